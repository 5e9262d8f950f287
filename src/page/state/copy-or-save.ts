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

/** Saves a file with the browser's download. */
export function saveFile({ name, mediaType, text }: { name: string; mediaType: string; text: string }): void {
  const url = URL.createObjectURL(new Blob([text], { type: mediaType }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // Once the download has begun, it has its own reference to the blob.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
