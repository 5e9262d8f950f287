/** The buttons of a form in a dialog: Cancel and submit. */
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
