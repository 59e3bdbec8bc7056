import { ruledOutFields } from '../../shared/pure/public-key-rules.ts';
import { endpointsOf } from '../http/endpoint.ts';
import { acceptedSchema, subscribeBody } from './subscribe.schemas.ts';

const endpoint = endpointsOf('Public API');

export const subscribeEndpoint = endpoint('subscribe', 'POST /v1/subscribe', {
  roles: ['track'],
  effect: 'data',
  summary: 'Ask for newsletters, as the form of a page does',
  description:
    'The person gets an email with a link, and is subscribed when they confirm. The answer is the same for every address. A plain HTML form may send the same fields as application/x-www-form-urlencoded or multipart/form-data to `/v1/subscribe?key=<public key>`; it is answered with a page, or with a redirect to `redirectUrl`.',
  isGrouped: true,
  hasEnvelope: true,
  body: subscribeBody,
  ruledOut: (rules, body) => ruledOutFields(rules, { ...body, subscribed: undefined }),
  replies: { 202: { description: 'Accepted, whatever is known of the address', schema: acceptedSchema } },
  async handle({ project, keyKind, clientAddress, body, deps }) {
    await deps.subscribe({ project, keyKind, clientAddress, body });
    return { status: 202, data: { accepted: true } };
  },
});
