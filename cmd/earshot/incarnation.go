package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
)

// incarnation keeps the ledger's counter of starts beside the ledger. It implements
// kernel.Incarnation.
type incarnation struct {
	path    string
	trouble func(error) // told of each write that fails

	mu   sync.Mutex
	last int64
}

// Load reads the counter; a missing file is 0.
func (i *incarnation) Load() (int64, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	raw, err := os.ReadFile(i.path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading the incarnation: %w", err)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s should hold a number: %w", i.path, err)
	}
	i.last = n
	return n, nil
}

// Store writes the counter, never a lower one than before.
func (i *incarnation) Store(n int64) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if n <= i.last {
		return nil
	}
	if err := writeWhole(i.path, []byte(strconv.FormatInt(n, 10)+"\n")); err != nil {
		i.trouble(err)
		return err
	}
	i.last = n
	return nil
}
