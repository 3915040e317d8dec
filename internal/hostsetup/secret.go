package hostsetup

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/toolfile"
)

// secretsFolder is the folder of the data directory with credentials of servers that have moved.
const secretsFolder = "secrets"

// RemoveSecrets removes the files with the credentials of a server that is not behind Earshot any more: those that [Install] has written,
// and no server of the file needs still. It returns their names. Before are the servers of the file, with that one.
func RemoveSecrets(data, name string, before map[string]toolfile.MCPServer) (removed []string, err error) {
	needed := map[string]bool{}
	for other, server := range before {
		for _, ref := range server.Secrets {
			if other != name && ref.File != "" {
				needed[ref.File] = true
			}
		}
	}
	refs := before[name].Secrets
	for _, key := range slices.Sorted(maps.Keys(refs)) {
		path := refs[key].File
		if needed[path] || path != filepath.Join(data, secretsFolder, name+"."+key) {
			continue
		}
		err := os.Remove(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return removed, cause.Fail(err, "the server is taken out, and a credential of it is left in "+cause.OneLine(path), "remove that file by hand")
		}
		removed = append(removed, path)
	}
	return removed, nil
}
