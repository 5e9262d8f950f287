/** The end of a form in a dialog: Cancel, and what the form does. */
export function FormButtons({ submit, onCancel }: { submit: string; onCancel: () => void }) {
  return (
    <div class="dialog-buttons">
      <button type="button" class="button" onClick={onCancel}>
        Cancel
      </button>
      <button type="submit" class="button primary">
        {submit}
      </button>
    </div>
  );
}
