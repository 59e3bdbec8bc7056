import type { Orm } from '../../shared/domain/schema/orm.ts';
import type { Config } from '../../shared/platform/config.ts';
import { createDnsResolver } from '../../shared/platform/dns/resolver.ts';
import type { LinkSigner } from '../../shared/sending/compose/links.ts';
import type { Logger } from '../../shared/platform/logger.ts';
import { createVerp } from '../../shared/sending/compose/verp.ts';
import { appSecretsOf } from '../../shared/platform/sealed-values.ts';
import { openTls, tlsFilesOf } from '../../shared/platform/smtp/tls-identity.ts';
import type { SmtpPool } from '../../shared/sending/transport/smtp-pool.ts';
import { createInboundMail } from './inbound-mail.ts';
import { startInboundServer, type InboundServer } from './inbound-server.ts';
import { createOperatorMail } from './operator-mail.ts';

export interface InboundDeps {
  config: Config;
  orm: Orm;
  logger: Logger;
  links: LinkSigner;
  /** Sends email to the operator. */
  smtp: Pick<SmtpPool, 'send'>;
}

/**
 * Starts listening for inbound email if the configuration asks for it. Of several workers on one machine the first one
 * listens; the others log that and do the rest of their work. Without INBOUND_DOMAIN nothing listens.
 * @throws ConfigError when the files for STARTTLS cannot be used
 */
export async function startInbound(deps: InboundDeps): Promise<InboundServer | undefined> {
  const { INBOUND_SMTP_PORT: port, INBOUND_DOMAIN: domain } = deps.config;
  if (port === undefined) return undefined;
  if (domain === undefined) {
    deps.logger.info('no inbound mail is taken: INBOUND_DOMAIN is not set');
    return undefined;
  }
  const files = tlsFilesOf(deps.config, 'INBOUND');
  const tls = files && (await openTls({ listener: 'INBOUND', files, logger: deps.logger }));
  const { OPERATOR_EMAIL: operator } = deps.config;
  const operatorMail = operator === undefined ? undefined : createOperatorMail({ ...deps, operator, domain });
  const verp = createVerp({ ...appSecretsOf(deps.config), domain });
  const dns = createDnsResolver({ servers: deps.config.DNS_SERVERS });
  const fblSources = deps.config.FBL_SOURCES;
  const mail = createInboundMail({ ...deps, domain, verp, operatorMail, dns, fblSources });
  try {
    const proxySources = deps.config.INBOUND_PROXY_PROTOCOL ? deps.config.INBOUND_PROXY_SOURCES : [];
    const server = await startInboundServer({ port, domain, mail, tls, proxySources, logger: deps.logger });
    deps.logger.info({ port: server.port, domain, tls: tls !== undefined }, 'listening for inbound mail');
    return server;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    deps.logger.warn({ port }, 'another process listens for inbound mail on this port');
    return undefined;
  }
}
