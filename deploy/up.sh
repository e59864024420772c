#!/bin/sh
# Starts everything in compose.yaml. The first time it makes the secrets: files in deploy/secrets/, a folder that only its owner
# enters. Compose mounts each file as it is into containers whose users are others, so a file by itself is readable.
# Keep a copy of secrets-key outside the backups of the database: without it callbacks cannot be signed.
set -eu
cd "$(dirname "$0")"
umask 077
mkdir -p secrets

# Writes standard input into a secret that is not there yet, whole or not at all.
keep() {
  cat >"secrets/$1.new"
  chmod 0444 "secrets/$1.new"
  mv "secrets/$1.new" "secrets/$1"
}

# 48 random bytes, in letters that a URL takes.
random() {
  head -c 48 /dev/urandom | base64 | tr -d '\n' | tr '+/' '-_'
}

for name in auth-secret secrets-key grafana-password database-password database-request-password; do
  [ -s "secrets/$name" ] || random | keep "$name"
done
[ -s secrets/database-url ] ||
  printf 'postgres://saldo:%s@postgres:5432/saldo' "$(cat secrets/database-password)" | keep database-url
[ -s secrets/database-request-url ] ||
  printf 'postgres://saldo_request:%s@postgres:5432/saldo' "$(cat secrets/database-request-password)" |
  keep database-request-url

[ "${1:-}" != --secrets-only ] || exit 0
docker compose up --detach --wait postgres
docker compose exec -T postgres sh /docker-entrypoint-initdb.d/request-login.sh
exec docker compose up --detach --build --wait "$@"
