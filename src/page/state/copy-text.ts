import { showNotice } from "./notice.js";

/** Puts text on the clipboard and says so. */
export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    showNotice({ tone: "good", text: `Copied: ${what}` });
  } catch {
    showNotice({
      tone: "bad",
      text: "The browser does not let this page use the clipboard. Select the text and copy it yourself.",
    });
  }
}
