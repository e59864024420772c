# Gives the login of chat requests its password, and makes it first where it is missing. PostgreSQL's image runs this for a fresh
# database, and up.sh before each start: a database of an earlier version has no such login, or one without a password.
psql --quiet --no-psqlrc --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" <<SQL
DO \$\$ BEGIN CREATE ROLE saldo_request LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END \$\$;
ALTER ROLE saldo_request PASSWORD '$(cat /run/secrets/database-request-password)';
SQL
