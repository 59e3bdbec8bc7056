import { withQuery } from './api.mjs';

/**
 * A page of the console: `#/campaigns/<id>?state=FAILED`. Browsers send nothing of it to the server.
 * @typedef {{ name: string, id: string, query: URLSearchParams, hash: string }} Route
 */

/** The route that the fragment of the page's address names. @param {string} hash @returns {Route} */
export function routeOf(hash) {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  const [name = '', ...rest] = path.split('/');
  return { name: name || 'today', id: decoded(rest.join('/')), query: new URLSearchParams(query), hash };
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * The link to a view, or to one item of it.
 * @param {string} name
 * @param {string} [id]
 * @param {Record<string, string | undefined>} [values] the query
 */
export function linkTo(name, id = '', values = {}) {
  return withQuery(`#/${name}${id && `/${encodeURIComponent(id)}`}`, values);
}

/** Goes to a view. @param {Parameters<typeof linkTo>} to as `linkTo` */
export function goTo(...to) {
  location.hash = linkTo(...to);
}
