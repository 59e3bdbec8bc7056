/** For type checks only: at this address, the browser gets the paths of the icons (../../console-files.ts). */
export default /** @type {Record<string, string[]>} */ ({});
