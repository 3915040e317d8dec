package testkit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

// Cache returns the folder in which `scripts/need` keeps what tests need.
func Cache() (string, error) {
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err //nolint:wrapcheck // for a test, which says what it needed
		}
		cache = filepath.Join(home, ".cache")
	}
	return filepath.Join(cache, "earshot-test"), nil
}

// Packages returns the folder node_modules in which `scripts/need NAME` has put the npm packages of a lock file. It is an
// error if they are not there.
func Packages(name, lockFile string) (string, error) {
	lock, err := os.ReadFile(lockFile)
	if err != nil {
		return "", err //nolint:wrapcheck // for a test, which says what it needed
	}
	cache, err := Cache()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(lock)
	folder := filepath.Join(cache, name+"-"+hex.EncodeToString(sum[:])[:16], "node_modules")
	if _, err := os.Stat(folder); err != nil { //nolint:gosec // the caller is a test
		return "", fmt.Errorf("the packages of %s are not here; `scripts/need %s` fetches them: %w", lockFile, name, err)
	}
	return folder, nil
}
