package backup_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/earshot-dev/earshot/internal/backup"
	"github.com/earshot-dev/earshot/internal/instance"
)

// A copy that is put back makes the next start know that the ledger is older than the world.
func Example() {
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	ctx, data := context.Background(), filepath.Join(folder, "data")
	opened := func() *instance.Instance {
		i, err := instance.Open(ctx, instance.Options{Data: data})
		if err != nil {
			panic(err)
		}
		return i
	}
	opened().Close()
	copied, err := backup.Make(ctx, data, folder, time.Now(), func(string) {})
	if err != nil {
		panic(err)
	}
	if _, err := backup.Restore(ctx, data, copied, time.Now(), func(string) {}); err != nil {
		panic(err)
	}
	i := opened()
	defer i.Close()
	fmt.Println("restored:", i.Restored)
	// Output: restored: true
}
