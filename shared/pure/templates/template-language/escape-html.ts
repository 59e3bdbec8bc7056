const SPECIAL = /[&<>"']/;
const EVERY_SPECIAL = /[&<>"']/g;

/** Makes a text safe inside HTML text and inside quoted attribute values. */
export function escapeHtml(text: string): string {
  return SPECIAL.test(text) ? text.replace(EVERY_SPECIAL, escapeCharacter) : text;
}

function escapeCharacter(character: string): string {
  switch (character) {
    case '&':
      return '&amp;';
    case '<':
      return '&lt;';
    case '>':
      return '&gt;';
    case '"':
      return '&quot;';
    default:
      return '&#39;';
  }
}
