package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/earshot-dev/earshot/tool/settings"
)

// read reads the values and names of a file. Paths in it are relative to its folder, and ~/ is the home folder.
func read(path, home string, flags *pflag.FlagSet) (map[string][]string, []string, error) {
	raw, err := settings.ReadFile(path, settings.MaxFile)
	if err != nil {
		return nil, nil, fmt.Errorf("the configuration cannot be read: %w", err)
	}
	values, names, err := parse(raw, flags)
	if err != nil {
		return nil, nil, fmt.Errorf("the configuration %s: %w", path, err)
	}
	for name, list := range values {
		if flag := flags.Lookup(name); IsPath(flag) {
			for i := range list {
				if !slices.Contains(flag.Annotations[NoPath], list[i]) {
					list[i] = fromFolder(filepath.Dir(path), home, list[i])
				}
			}
		}
	}
	return values, names, nil
}

// IsPath reports whether a flag names a file or a folder, according to its shell completion.
func IsPath(f *pflag.Flag) bool {
	_, folder := f.Annotations[cobra.BashCompSubdirsInDir]
	_, file := f.Annotations[cobra.BashCompFilenameExt]
	return folder || file
}

func fromFolder(folder, home, path string) string {
	if rest, is := strings.CutPrefix(path, "~/"); is && home != "" {
		return filepath.Join(home, rest)
	}
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}

// parse parses the values and names of a file, in its order.
func parse(raw []byte, flags *pflag.FlagSet) (map[string][]string, []string, error) {
	section, err := settings.Parse(raw)
	if errors.Is(err, settings.ErrEmpty) {
		return nil, nil, nil // it sets nothing
	}
	if err != nil {
		return nil, nil, err
	}
	values := map[string][]string{}
	for _, name := range section.Names() {
		f := flags.Lookup(name)
		if f == nil || !setting(f) {
			return nil, nil, section.Unknown(name, Names(flags))
		}
		if values[name], err = section.Texts(name, several(f)); err != nil {
			return nil, nil, err
		}
	}
	return values, section.Names(), nil
}
