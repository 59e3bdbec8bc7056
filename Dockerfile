# syntax=docker/dockerfile:1

# Debian, not Alpine: Temporal's native module is built against glibc only.
FROM node:24.21.0-bookworm-slim AS base
WORKDIR /app

FROM base AS dependencies
COPY package.json package-lock.json .npmrc ./
# No dependency needs its install script; Temporal's module arrives built, for every platform, and one is enough.
RUN --mount=type=cache,target=/root/.npm \
    npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
 && find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 \
      ! -name "$(uname -m)-unknown-linux-gnu" -exec rm -rf {} +

FROM dependencies AS bundle
COPY shared shared
COPY activities activities
COPY workflows workflows
COPY worker worker
RUN node worker/bundle-workflows.ts dist/workflow-bundle.js

FROM base AS runtime
ENV NODE_ENV=production \
    WORKFLOW_BUNDLE=/app/dist/workflow-bundle.js \
    RESULTS_FOLDER=/var/lib/everpost/results
COPY --from=dependencies /app/node_modules node_modules
COPY --from=bundle /app/dist dist
COPY package.json ./
COPY deploy/health-check.mjs deploy/
COPY shared shared
COPY activities activities
COPY api api
COPY worker worker
COPY cli cli
COPY docs docs
RUN ln -s /app/cli/main.ts /usr/local/bin/everpost \
 && install -d -o node -g node -m 700 /var/lib/everpost/results
USER node
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["node", "deploy/health-check.mjs"]
# The worker is the same image with `node --max-semi-space-size=64 worker/main.ts`, an operator command is `everpost …`.
CMD ["node", "api/main.ts"]
