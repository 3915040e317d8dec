package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
)

// Counter stores the ledger's count of starts outside the ledger. It implements incarnation.Copy.
type Counter struct {
	Path    string
	Trouble func(error) // called for each write that fails

	mu   sync.Mutex
	last int64
}

// Load reads the counter; a missing file is 0.
func (c *Counter) Load() (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	raw, err := os.ReadFile(c.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading the incarnation: %w", err)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s should hold a number: %w", c.Path, err)
	}
	c.last = n
	return n, nil
}

// Store writes the counter, and never decreases it.
func (c *Counter) Store(n int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n <= c.last {
		return nil
	}
	if err := WriteFile(c.Path, []byte(strconv.FormatInt(n, 10)+"\n")); err != nil {
		c.Trouble(err)
		return err
	}
	c.last = n
	return nil
}
