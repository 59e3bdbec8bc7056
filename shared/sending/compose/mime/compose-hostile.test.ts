import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  BASIC_FIELDS,
  composeMessage,
  fieldNames,
  message,
  parse,
  prose,
  PNG,
} from '../../../../tests/support/composed-messages.ts';

describe('composeMessage', () => {
  const attack = fc.constantFrom(
    '\r\nBcc: evil@example.org',
    '\nBcc: evil@example.org\n\nbody',
    '\rX-Evil: 1',
    '\u2028Bcc: x',
    '\0',
    '\r\n\r\n<script>',
  );
  const hostile = fc.tuple(prose, attack, prose).map((pieces) => pieces.join(''));

  it('lets no hostile value start a header field or end the header', async () => {
    await fc.assert(
      fc.asyncProperty(hostile, hostile, hostile, hostile, hostile, async (subject, fromName, toName, value, other) => {
        const raw = composeMessage(
          message({
            subject,
            from: { address: 'news@example.com', name: fromName },
            to: { address: 'ann@example.org', name: toName },
            messageId: `<1@example.com>${other}`,
            headers: [
              ['X-Value', value],
              [`X-Name${other}`, 'ignored'],
            ],
            attachments: [
              { filename: other, content: PNG, contentType: value, contentId: other, disposition: 'attachment' },
            ],
          }),
        );
        expect(fieldNames(raw)).toEqual([...BASIC_FIELDS.slice(0, 5), 'X-Value', ...BASIC_FIELDS.slice(5)]);
        const mail = await parse(raw);
        expect(mail.bcc).toBeUndefined();
        expect(mail.attachments).toHaveLength(1);
        expect(mail.attachments[0]?.content.equals(PNG)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it('ignores protected and malformed names, and takes the last header field of a name', () => {
    const raw = composeMessage(
      message({
        replyTo: 'reply@example.com',
        headers: [
          ['From', 'evil@example.org'],
          ['content-type', 'text/evil'],
          ['Bcc', 'evil@example.org'],
          ['X Y', 'no'],
          ['x-one', '1'],
          ['X-One', '2'],
          ['reply-to', 'other@example.com'],
        ],
      }),
    );
    expect(fieldNames(raw)).toEqual([...BASIC_FIELDS.slice(0, 5), 'X-One', 'reply-to', ...BASIC_FIELDS.slice(5)]);
    expect(raw.toString('latin1')).toContain('X-One: 2\r\nreply-to: other@example.com\r\n');
  });
});
