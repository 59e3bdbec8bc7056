#!/usr/bin/env bash
# Runs once, on an empty volume: a role and its databases for Everpost, and others for Temporal.
set -euo pipefail

psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres \
  --set everpost_password="$EVERPOST_DB_PASSWORD" --set temporal_password="$TEMPORAL_DB_PASSWORD" <<'SQL'
create role everpost login password :'everpost_password';
create database everpost owner everpost;
create role temporal login password :'temporal_password';
create database temporal owner temporal;
create database temporal_visibility owner temporal;
SQL
