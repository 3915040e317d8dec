package doctor_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/earshot-dev/earshot/internal/doctor"
)

// Before the first run there is nothing yet, and nothing stands in its way.
func Example() {
	all := doctor.Examine(context.Background(), doctor.Options{
		Program: "earshot v1.", Data: filepath.Join(os.TempDir(), "earshot-that-is-not-there"), HTTP: "127.0.0.1:0",
		Roots:  []string{"/pictures"},
		Folder: func(string) (string, error) { return "", os.ErrNotExist },
		Now:    time.Now, LookupEnv: os.LookupEnv, Logger: slog.New(slog.DiscardHandler),
	})
	for _, f := range all {
		if f.Name == "configuration" || f.Name == "folder" {
			fmt.Printf("%s: %s: %s\n", f.State, f.Name, f.Found)
		}
	}
	// Output:
	// ok: configuration: No configuration file is used; flags and variables apply.
	// problem: folder: it is not there.
}
