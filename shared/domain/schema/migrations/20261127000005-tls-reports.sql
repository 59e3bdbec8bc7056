-- What delivery to mail hosts remembers: policies about TLS (RFC 8461), and results of sessions for reports (RFC 8460).

create table mta_sts_policy (
  domain text primary key,
  policy jsonb not null,
  expires_at timestamptz not null
);

create table tls_result (
  -- In UTC.
  day date not null,
  domain text not null,
  -- Tells apart what `detail` says.
  digest text not null,
  detail jsonb not null,
  sessions bigint not null,
  primary key (day, domain, digest)
);
