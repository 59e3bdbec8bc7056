/** What tools see here; the browser gets the file of the package itself at this address (../../console-files.ts). */
export { default } from 'uplot';
