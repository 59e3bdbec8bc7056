/** A place in the console: `#/campaigns/<id>?state=FAILED`. Nothing of it is sent to the server. */
/** @typedef {{ name: string, id: string, query: URLSearchParams, hash: string }} Route */

/** @param {string} hash @returns {Route} */
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
 * @param {string} name
 * @param {string} [id]
 * @param {Record<string, string | undefined>} [values]
 */
export function linkTo(name, id = '', values = {}) {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== '');
  const query = new URLSearchParams(/** @type {[string, string][]} */ (given)).toString();
  return `#/${name}${id && `/${encodeURIComponent(id)}`}${query && `?${query}`}`;
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** The route for a search text: an address, or the id of an email. @param {string} text */
export function placeOf(text) {
  const wanted = text.trim();
  return UUID.test(wanted) ? linkTo('emails', wanted.toLowerCase()) : linkTo('address', wanted);
}
