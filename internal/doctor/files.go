package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/instance"
	"github.com/earshot-dev/earshot/internal/kernel/store/sqlite"
)

// examineTime is the timeout for reading the ledger: one that takes longer is large, and a person waits.
const examineTime = 20 * time.Second

// examineWriting writes a file and removes it again: correct permissions prove nothing on a disk that is full or
// read-only.
func examineWriting(path string) Finding {
	const name = "data directory"
	f, err := os.CreateTemp(path, ".doctor-")
	if err == nil {
		_, err = f.WriteString("written by earshot doctor\n")
		err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	if err != nil {
		return Finding{Name: name, State: Problem, Found: sentence(path + " cannot be written to: " + cause.Of(err)), Advice: "make room on the disk, or check the permissions of the folder"}
	}
	return Finding{Name: name, State: OK, Found: path + " is yours, and can be written to."}
}

// privately returns what prevents a file from being used, or from being private.
func privately(name, path, missing string) (info fs.FileInfo, trouble *Finding) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &Finding{Name: name, State: Note, Found: path + " is not there yet.", Advice: missing}
	case err != nil:
		return nil, &Finding{Name: name, State: Problem, Found: sentence(cause.Of(err)), Advice: "check its permissions with `ls -l`"}
	case !info.Mode().IsRegular():
		return nil, &Finding{Name: name, State: Problem, Found: path + " is not a file.", Advice: "move it away, or use another folder with --data DIR"}
	case info.Mode().Perm()&0o077 != 0:
		return nil, &Finding{Name: name, State: Problem, Found: path + " can be read by others.", Advice: "run `chmod 600 " + cause.Quoted(path) + "`"}
	}
	return info, nil
}

// examineFile reads a small file.
func examineFile(name, path, missing string) Finding {
	if _, trouble := privately(name, path, missing); trouble != nil {
		return *trouble
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return Finding{Name: name, State: Problem, Found: sentence(cause.Of(err)), Advice: "check its permissions with `ls -l`"}
	}
	return Finding{Name: name, State: OK, Found: fmt.Sprintf("%s can be read, %s.", path, legible.Bytes(int64(len(raw))))}
}

// examineLedger reads the whole ledger, even while a server uses it.
func examineLedger(ctx context.Context, data *datadir.Dir) Finding {
	const name = "ledger"
	if err := instance.InDatabase(data, "name it with --ledger to have it looked at"); err != nil {
		f := broken(name, err)
		f.State = Note
		return f
	}
	path := data.File(datadir.LedgerFile)
	info, trouble := privately(name, path, "the first run makes it")
	if trouble != nil {
		return *trouble
	}
	ctx, cancel := context.WithTimeout(ctx, examineTime)
	defer cancel()
	found, err := sqlite.Examine(ctx, path)
	size := legible.Bytes(info.Size())
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return Finding{
			Name: name, State: Note, Found: fmt.Sprintf("%s is whole as far as it was read in %s; it has %s.", path, examineTime, size),
			Advice: "`earshot backup` reads all of it",
		}
	case err != nil:
		return broken(name, instance.LedgerFailure(path, err))
	case found.Version == 0:
		return Finding{Name: name, State: Problem, Found: path + " is empty.", Advice: "restore it from a backup, or move it away and start afresh"}
	case found.Version < found.Latest:
		return Finding{
			Name: name, State: Note, Found: fmt.Sprintf("%s is whole, %s, and has schema version %d.", path, size, found.Version),
			Advice: fmt.Sprintf("the next start brings it to version %d; make a backup first", found.Latest),
		}
	}
	return Finding{Name: name, State: OK, Found: fmt.Sprintf("%s is whole, %s, schema version %d.", path, size, found.Version)}
}

// examineKey reads the key that encrypts secrets.
func examineKey(data *datadir.Dir) Finding {
	const name = "key"
	path := data.File(datadir.KeyFile)
	if !datadir.Exists(path) && datadir.Exists(data.File(datadir.LedgerFile)) {
		return Finding{Name: name, State: Problem, Found: path + " is missing beside a ledger that is in use.", Advice: datadir.RestoreKey}
	}
	if _, trouble := privately(name, path, "the first run makes it"); trouble != nil {
		return *trouble
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return Finding{Name: name, State: Problem, Found: sentence(cause.Of(err)), Advice: "check its permissions with `ls -l`"}
	}
	if len(raw) != datadir.KeySize {
		return Finding{
			Name: name, State: Problem, Found: fmt.Sprintf("%s has %d bytes; it should have %d.", path, len(raw), datadir.KeySize),
			Advice: datadir.RestoreKey,
		}
	}
	return Finding{Name: name, State: OK, Found: fmt.Sprintf("%s can be read and is complete, %d bytes.", path, datadir.KeySize)}
}

// examineCounter reads the counter file of starts.
func examineCounter(data *datadir.Dir) Finding {
	const name = "incarnation"
	path := data.File(datadir.CounterFile)
	if _, trouble := privately(name, path, "the first run makes it"); trouble != nil {
		return *trouble
	}
	n, err := (&datadir.Counter{Path: path}).Load()
	if err != nil {
		return Finding{Name: name, State: Problem, Found: sentence(cause.Of(err)), Advice: "restore it from your backup, with the ledger of the same time"}
	}
	return Finding{Name: name, State: OK, Found: fmt.Sprintf("%s can be read; its count is %d.", path, n)}
}
