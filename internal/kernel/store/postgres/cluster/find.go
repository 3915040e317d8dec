package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

// ErrMissing says that PostgreSQL is not installed.
var ErrMissing = errors.New("PostgreSQL (initdb, postgres) is not installed")

// Find returns the folder with PostgreSQL's programs: the one on the PATH, or else the newest
// where distributions put them beside it.
func Find() (string, error) {
	if initdb, err := exec.LookPath("initdb"); err == nil {
		if initdb, err = filepath.EvalSymlinks(initdb); err == nil {
			return filepath.Dir(initdb), nil
		}
	}
	var found []string
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin/initdb", "/usr/pgsql-*/bin/initdb", "/opt/homebrew/opt/postgresql@*/bin/initdb"} {
		some, err := filepath.Glob(pattern)
		if err != nil {
			return "", fmt.Errorf("cluster: %w", err)
		}
		found = append(found, some...)
	}
	if len(found) == 0 {
		return "", ErrMissing
	}
	newest := slices.MaxFunc(found, func(a, b string) int { return cmp.Compare(version(a), version(b)) })
	return filepath.Dir(newest), nil
}

// version is the last number in a path.
func version(path string) int {
	n, digits := 0, ""
	for _, r := range path + "/" {
		if r >= '0' && r <= '9' {
			digits += string(r)
			continue
		}
		if v, err := strconv.Atoi(digits); err == nil {
			n = v
		}
		digits = ""
	}
	return n
}
