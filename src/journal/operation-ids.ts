/** Whether a text can be the id of an entry: stores would cut or mend any other into somebody else's. */
export function isOperationId(text: string): boolean {
  return text !== "" && text.isWellFormed() && !text.includes("\0");
}
