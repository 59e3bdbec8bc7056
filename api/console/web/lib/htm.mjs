import htm from 'htm';

/** What tools see here; the browser gets the file of the package itself at this address (../../console-files.ts). */
export default /** @type {any} */ (htm);
