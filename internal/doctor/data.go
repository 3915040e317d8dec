package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/instance"
)

// examineData checks the data directory and who uses it.
func (o Options) examineData(ctx context.Context) []Finding {
	path := o.Data
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return []Finding{{Name: "data directory", State: Note, Found: path + " is not there yet.", Advice: "the first run makes it"}, examineAddress(o.HTTP)}
	}
	if err := datadir.CheckOwner(path); err != nil {
		return []Finding{broken("data directory", err)}
	}
	data := &datadir.Dir{Path: path}
	all := []Finding{
		examineWriting(path), examineSpace(path),
	}
	if instance.InDatabase(data, "") == nil {
		all = append(all, examineLedger(ctx, data), examineKey(data), examineCounter(data))
	} else { // its counter has a name of its own, and is read when the server starts
		if o.Ledger == "" {
			all = append(all, examineLedger(ctx, data))
		}
		all = append(all, examineKey(data))
	}
	all = append(all, examineFile("page's name", data.File(datadir.PageFile), "`earshot up` makes it, unless --page-url names the page"),
		o.examineTokens())
	return append(all, o.examineServer(ctx)...)
}

func examineSpace(path string) Finding {
	const least = 64 << 20
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return Finding{Name: "room", State: Note, Found: "How much room the disk has cannot be found out.", Advice: "look with `df`"}
	}
	free := int64(st.Bavail) * int64(st.Bsize) //nolint:unconvert // their widths differ between systems
	if free < least {
		return Finding{Name: "room", State: Problem, Found: legible.Bytes(free) + " are free.", Advice: "make room: nothing is done that cannot be recorded"}
	}
	return Finding{Name: "room", State: OK, Found: legible.Bytes(free) + " are free."}
}

func (o Options) examineTokens() Finding {
	store, err := instance.OpenAccess(o.Data, o.Now)
	if err != nil {
		return broken("tokens", err)
	}
	all, err := store.List()
	if err != nil {
		return broken("tokens", instance.AccessFailure(err))
	}
	switch len(all) {
	case 0:
		return Finding{Name: "tokens", State: OK, Found: "There are none.", Advice: "`earshot token add` makes one for a program or another person"}
	case 1:
		return Finding{Name: "tokens", State: OK, Found: "There is 1."}
	}
	return Finding{Name: "tokens", State: OK, Found: fmt.Sprintf("There are %d.", len(all))}
}
