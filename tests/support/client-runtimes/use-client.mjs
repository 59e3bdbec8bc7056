/**
 * What a program does with the client, in whatever runtime this file runs.
 * @param client the built package
 * @param settings `{ url, secretKey, publicKey, webhook: { body, headers, secret } }`
 * @returns what came of it, as JSON can hold it
 */
export async function useClient(client, { url, secretKey, publicKey, webhook }) {
  const { Everpost, EverpostError, verifyWebhook } = client;
  const everpost = new Everpost({ url, secretKey, publicKey });
  const from = 'hello@example.com';
  const sent = await everpost.send({ to: 'ada@mail.test', from, subject: 'Hello', body: '<p>Hello</p>' });
  await everpost.track({ email: 'ada@mail.test', event: 'order.paid' });
  await everpost.contacts.upsert({ email: 'bo@mail.test' });
  const contacts = [];
  for await (const { email } of everpost.contacts.list({ limit: 1, sort: 'email', dir: 'asc' })) contacts.push(email);
  const refusal = await everpost.send({ to: 'nobody', from, subject: 'a', body: 'b' }).catch((error) => error);
  const event = await verifyWebhook(webhook.body, new globalThis.Headers(webhook.headers), webhook.secret);
  const forged = await verifyWebhook(`${webhook.body} `, webhook.headers, webhook.secret).catch((error) => error);
  return {
    // Its answer is lost where the connection was cut after it.
    isSent: sent.isAnswerLost || sent.emails.length === 1,
    contacts,
    refusal: [refusal instanceof EverpostError, refusal.code, refusal.errors[0].field],
    event: event.type,
    forged: forged.name,
  };
}
