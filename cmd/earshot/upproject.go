package main

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/config"
	"github.com/earshot-dev/earshot/server"
)

// ofProcess are the settings that all projects of a process have in common, so that the configuration of one cannot set them.
func ofProcess() []string {
	return []string{"data", "http", "https", "tls-cert", "tls-key", "tls-client-ca", "nats-listen", "debug", "sample"}
}

// projectOptions returns the options of a further project of a server, from its own configuration alone: the flags and variables of `earshot
// up` are those of the server's own project.
func (m *Main) projectOptions(name, data, file string) (server.Options, error) {
	f := new(upFlags)
	flags := m.upCommandInto(f).Flags()
	if file != "" {
		if err := flags.Set(config.Flag, file); err != nil {
			return server.Options{}, cause.Fail(err, "the configuration of the project "+name+" cannot be named", "")
		}
		home := func(variable string) string {
			if variable == "HOME" {
				return m.Getenv(variable)
			}
			return ""
		}
		from, err := config.Fill(flags, home)
		if err != nil {
			return server.Options{}, err
		}
		for _, set := range from.Sets {
			if slices.Contains(ofProcess(), set) {
				return server.Options{}, cause.Misuse("the configuration "+file+" of the project "+name+" sets "+set+", which is the server's",
					"leave out "+strings.Join(ofProcess(), ", "))
			}
		}
	}
	// An agent of one project must not reach the data of the others, which are beside it.
	o, _, _, err := m.parts(*f, data, filepath.Dir(filepath.Dir(data)))
	return o, err
}
