package credentialfile

import (
	"path/filepath"
	"slices"

	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/datadir"
)

// Named assigns the given files to tool services: at most one to each, and no other files.
func Named(names, paths []string) (map[string]string, error) {
	files := make(map[string]string, len(names))
	for _, path := range paths {
		c, err := bus.ReadCredentials(path)
		if err != nil {
			return nil, cause.Fail(nil, cause.Of(err), "name a file that `earshot credential add NAME --role tool` has made")
		}
		who := c.Principal
		here := who.Kind == bus.Tool && slices.Contains(names, who.Name)
		if !here || files[who.Name] != "" {
			return nil, cause.Misuse(cause.OneLine(path)+" holds the credentials of "+who.String()+", which no service of the file is waiting for", "name one file for each service")
		}
		files[who.Name] = path
	}
	return files, nil
}

// Complete adds the folder's files for the services that have none yet.
func (d Dir) Complete(names []string, files map[string]string) error {
	for _, name := range names {
		who := bus.Principal{Kind: bus.Tool, Name: name}
		switch path := d.File(who); {
		case files[name] != "":
		case !datadir.Exists(path):
			return cause.Fail(nil, "there are no credentials of "+who.String()+" in "+filepath.Dir(d.Path),
				"make them with `earshot credential add "+name+" --role tool`; or name their file with --credential")
		default:
			files[name] = path
		}
	}
	return nil
}
