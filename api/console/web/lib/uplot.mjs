/** For type checks only: at this address, the browser gets the file of the package (../../console-files.ts). */
export { default } from 'uplot';
