import type { LinkSigner } from '../../shared/sending/compose/links.ts';

/** A link in an email, as the target of a request, which may contain the host. Express ignores the case of paths, too. */
const LINK = /^(?:https?:\/\/[^/?#]*)?\/(unsubscribe|subscribe|manage|confirm|t\/o|t\/c|t\/h)\/([^/?#]+)/i;

/** The characters of a token never need an escape, but mail programs may write one. */
function decoded(token: string): string {
  try {
    return decodeURIComponent(token);
  } catch {
    return token;
  }
}

/**
 * Creates the function that reads which email the link of a request is in, or which opt-in it confirms. It only
 * computes, so it can be called before anything is known about the client.
 * @returns undefined for any other URL, and for a token that was not made here
 */
export function createLinkReader(links: LinkSigner): (url: string) => string | undefined {
  return (url) => {
    const [, page = '', part = ''] = LINK.exec(url) ?? [];
    if (page === '') return undefined;
    const token = decoded(part);
    if (page.toLowerCase() === 't/c') return links.readClickToken(token)?.emailId;
    if (page.toLowerCase() === 't/h') return links.readHiddenToken(token);
    if (page.toLowerCase() === 'confirm') return links.readConfirmToken(token);
    if (page.toLowerCase() !== 't/o') return links.readRecipientToken(token)?.emailId;
    return token.endsWith('.gif') ? links.readOpenToken(token.slice(0, -'.gif'.length)) : undefined;
  };
}
