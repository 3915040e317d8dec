package page_test

import (
	"compress/gzip"
	"os"
	"testing"

	"github.com/earshot-dev/earshot/internal/surface/page"
)

// TestSize: the style, the scripts and the images together are small.
func TestSize(t *testing.T) {
	t.Parallel()
	const most = 60_000 // bytes, compressed
	assets, err := page.Load()
	if err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadDir("assets")
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for _, name := range names {
		if file, found := assets.File(name.Name()); found {
			size += compressed(t, file.Body)
		}
	}
	t.Logf("%d bytes", size)
	if size == 0 || size > most {
		t.Errorf("they have %d bytes compressed; the limit is %d", size, most)
	}
}

// counter counts what is written.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

func compressed(t *testing.T, body []byte) int {
	t.Helper()
	var n counter
	w := gzip.NewWriter(&n)
	if _, err := w.Write(body); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return int(n)
}
