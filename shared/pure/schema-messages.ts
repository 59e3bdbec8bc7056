/**
 * Says what is wrong in plain words where zod speaks of JavaScript: a missing value is `undefined` to it, and a text that
 * is no number is `NaN`. Other messages stay as they are.
 */
export function plainMessage(message: string): string {
  if (message.endsWith(', received undefined')) return 'Required';
  if (message.endsWith(', received NaN')) return 'Must be a number';
  if (message.startsWith('Invalid input: expected record')) return message.replace('record', 'object');
  return message === 'Invalid UUID' ? 'Must be an id (a UUID)' : message;
}
