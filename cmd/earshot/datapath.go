package main

import (
	"path/filepath"

	"github.com/earshot-dev/earshot/internal/cause"
)

// dataPath is where the data lives: the flag, $EARSHOT_DATA, $XDG_DATA_HOME/earshot, or
// ~/.local/share/earshot.
func (m *Main) dataPath(flag string, given bool) (string, error) {
	if given && flag == "" { // a shell's variable without a value: it does not mean the default
		return "", cause.Misuse("the name of the data directory is empty", "name a folder, or leave --data out")
	}
	if flag == "" {
		flag = m.Getenv("EARSHOT_DATA")
	}
	if flag != "" {
		path, err := filepath.Abs(flag)
		if err != nil {
			return "", cause.Fail(err, "the data directory cannot be named", "use --data DIR with an absolute path")
		}
		return path, nil
	}
	base := m.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(base) {
		home := m.Getenv("HOME")
		if home == "" {
			return "", cause.Fail(nil, "there is no home folder to keep the ledger in", "set EARSHOT_DATA or use --data DIR")
		}
		base = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(base, "earshot"), nil
}
