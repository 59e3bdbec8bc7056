/**
 * Uses the client like a program, in any runtime.
 * @param client the built package
 * @param settings `{ url, secretKey, publicKey, webhook: { body, headers, secret } }`
 * @returns the results as JSON values
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
    // The answer is lost when the proxy cuts the connection after the request.
    isSent: sent.isAnswerLost || sent.emails.length === 1,
    contacts,
    refusal: [refusal instanceof EverpostError, refusal.code, refusal.errors[0].field],
    event: event.type,
    forged: forged.name,
  };
}
