package instance

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
	"github.com/earshot-dev/earshot/internal/kernel/store/postgres"
)

const (
	// claimPause is the delay before a lost claim to a database is retried, and claimTimeout the total time: a
	// restarted database is back within it.
	claimPause   = time.Second
	claimTimeout = 2 * time.Minute
)

// openDatabase opens the ledger in PostgreSQL and claims it, so that no other server serves it. The counter file must
// belong to this very ledger.
func (i *Instance) openDatabase(ctx context.Context) error {
	store, err := postgres.Open(ctx, postgres.Options{DSN: i.options.Database, Logger: i.options.Logger})
	if err != nil {
		return databaseFailure(err)
	}
	i.startKeeper(store)
	i.InDatabase = true
	i.Now = store.Now // all kernels on the ledger use the database's clock
	i.Ledger, i.counter = store.Location(), i.Data.File(datadir.CounterFile+"-"+store.ID())
	hold, err := store.LockServer(ctx)
	if err != nil {
		return databaseFailure(err)
	}
	i.lower.owned.Go(func() { i.holdClaim(ctx, store, hold, i.options.Logger) })
	if err := i.claim(ctx, store, i.options.Takeover); err != nil {
		return err
	}
	if err := datadir.WriteFile(i.Data.File(datadir.DatabaseFile), []byte(i.Ledger+"\n")); err != nil {
		return cause.Fail(err, "where the ledger is cannot be noted in "+i.Data.Path, "make room, or use another folder with --data DIR")
	}
	return nil
}

// claim refuses the ledger of another data directory. That directory's key decrypts the secrets, and its counter
// detects that the ledger has gone back in time. Taking a ledger over needs an explicit option.
func (i *Instance) claim(ctx context.Context, store *postgres.Store, takeover bool) error {
	mac := hmac.New(sha256.New, i.key)
	mac.Write([]byte("earshot-ledger-1\n" + store.ID()))
	ownerID := hex.EncodeToString(mac.Sum(nil))
	known := datadir.Exists(i.counter)
	holds, used, err := store.Owner(ctx)
	const hint = "start with the data directory that it was used with (--data); if that is lost, --take-over takes the ledger over, and what was under way counts as unknown"
	switch {
	case err != nil:
		return databaseFailure(err)
	case takeover:
		i.LedgerMoved = used && (!known || holds != ownerID)
	case holds != "" && holds != ownerID:
		return cause.Fail(nil, "the ledger "+i.Ledger+" belongs to another data directory: it was used with another key than that of "+i.Data.Path, hint)
	case used && !known:
		return cause.Fail(nil, "the ledger "+i.Ledger+" was used with another data directory: "+i.Data.Path+" has no counter for it, which tells when it has gone back in time", hint)
	}
	i.confirmTakeover = func(ctx context.Context) error { // called after a complete start: a start that fails earlier has not taken over anything
		if err := store.SetOwner(ctx, ownerID); err != nil {
			return databaseFailure(err)
		}
		return nil
	}
	return nil
}

// InDatabase refuses work on a data directory whose server stores the ledger in a database: a file that was left there
// is not the ledger.
func InDatabase(d *datadir.Dir, hint string) error {
	place, err := os.ReadFile(d.File(datadir.DatabaseFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return cause.Fail(err, "where the ledger is cannot be read", "make "+d.File(datadir.DatabaseFile)+" readable for yourself")
	}
	return cause.Fail(nil, "the ledger of "+d.Path+" is in the database "+cause.OneLine(strings.TrimSpace(string(place))), hint)
}

// holdClaim holds the claim until ctx ends, and renews it if the database has ended it. If another server has claimed
// the ledger by then, or the database does not come back, the server ends.
func (i *Instance) holdClaim(ctx context.Context, store *postgres.Store, hold *postgres.ServerLock, log *slog.Logger) {
	for {
		select {
		case <-ctx.Done():
			hold.Release()
			return
		case <-hold.Lost():
			hold.Release()
		}
		log.Warn("the claim to the ledger was lost with its connection; claiming it again", "ledger", i.Ledger)
		i.options.Notice("Database: the connection to " + cause.OneLine(i.Ledger) + " is lost; trying again for 2 minutes. Until it is back nothing is decided, and no call starts.")
		var err error
		if hold, err = reclaim(ctx, store); err != nil {
			i.Fail(databaseFailure(err))
			return
		}
		if hold == nil {
			return
		}
		i.options.Notice("Database: the connection is back, and nothing was lost.")
	}
}

// reclaim tries to claim the ledger while the database is away, for at most claimTimeout; nil if the context has ended.
func reclaim(ctx context.Context, store *postgres.Store) (*postgres.ServerLock, error) {
	until := time.NewTimer(claimTimeout)
	defer until.Stop()
	for {
		hold, err := store.LockServer(ctx)
		switch {
		case ctx.Err() != nil:
			if err == nil {
				hold.Release()
			}
			return nil, nil //nolint:nilnil // there is nothing to hold, and nothing has failed
		case err == nil || errors.Is(err, ledgersql.ErrBusy):
			return hold, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(claimPause):
		case <-until.C:
			return nil, err
		}
	}
}

// databaseFailure explains a problem with a ledger in a database, and what to do.
func databaseFailure(err error) error {
	var newer *ledgersql.VersionError
	e, is := errors.AsType[*ledgersql.Error](err)
	switch {
	case errors.As(err, &newer):
		return cause.Fail(nil, newer.Error(), "use the newer earshot that wrote it, or another database with --ledger")
	case !is:
		return cause.Fail(err, "the ledger cannot be opened", "see `earshot help database`")
	case errors.Is(err, ledgersql.ErrBusy) && e.Expected != "":
		return cause.Fail(nil, "the ledger "+e.Path+" is served already: by "+e.Found, "end that server first, or use another database with --ledger")
	case errors.Is(err, ledgersql.ErrUnreachable), errors.Is(err, ledgersql.ErrBusy):
		return cause.Fail(nil, "the database "+e.Path+" cannot be reached"+ledgersql.Because(err), "see that it is up and lets you in, then try again")
	case errors.Is(err, ledgersql.ErrCorrupt):
		return cause.Fail(nil, "the database "+e.Path+" holds no ledger"+ledgersql.Found(err), "use an empty database or schema, or restore the ledger from a backup")
	case errors.Is(err, store.ErrFull):
		return cause.Fail(nil, "no room is left in the database "+e.Path, "make room there, then start again")
	case errors.Is(err, ledgersql.ErrAccess):
		return cause.Fail(nil, strings.TrimSpace("the database "+e.Path)+" cannot be used as a ledger"+ledgersql.Because(err),
			"check its name, the user, and what it may do; see `earshot help database`")
	}
	return cause.Fail(nil, "the ledger "+e.Path+" cannot be opened"+ledgersql.Because(err), "see `earshot help database`")
}

// CheckDatabase refuses an invalid DSN before anything is started. It also refuses a password on the command line,
// which everybody on the machine can read.
func CheckDatabase(dsn string) error {
	if dsn == "" || strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://") || strings.Contains(dsn, "=") {
		return nil
	}
	return cause.Misuse("--ledger is "+cause.OneLine(dsn)+", expected where a PostgreSQL database is",
		"for example --ledger postgres://earshot@db.example.org/earshot, or leave it out to keep the ledger in the data directory")
}

// ReachDatabase checks that the database can be reached, without changing it, and returns its location.
func ReachDatabase(ctx context.Context, dsn string) (place string, err error) {
	if err := CheckDatabase(dsn); err != nil {
		return "", err
	}
	if place, err = postgres.Reach(ctx, dsn); err != nil {
		return "", databaseFailure(err)
	}
	return place, nil
}
