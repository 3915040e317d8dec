package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/earshot-dev/earshot/internal/cause"
)

const maxFile = 1 << 20

// read reads the values of a file, and the names in it. Paths in it are relative to its
// own folder, and ~/ is the home folder.
func read(path, home string, flags *pflag.FlagSet) (map[string][]string, []string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, fmt.Errorf("the configuration cannot be read: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, nil, fmt.Errorf("the configuration %s should be a file of at most 1 MiB", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("the configuration cannot be read: %w", err)
	}
	defer func() { _ = file.Close() }()
	values, names, err := parse(file, flags)
	if err != nil {
		return nil, nil, fmt.Errorf("the configuration %s: %w", path, err)
	}
	for name, list := range values {
		if IsPath(flags.Lookup(name)) {
			for i := range list {
				list[i] = fromFolder(filepath.Dir(path), home, list[i])
			}
		}
	}
	return values, names, nil
}

// IsPath answers whether a flag names a file or a folder: what a shell completes by names is one.
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

func parse(in io.Reader, flags *pflag.FlagSet) (map[string][]string, []string, error) {
	d := yaml.NewDecoder(in)
	var document yaml.Node
	if err := d.Decode(&document); errors.Is(err, io.EOF) {
		return nil, nil, nil // an empty file sets nothing
	} else if err != nil {
		return nil, nil, cause.OfYAML(err, "there is no member %s")
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, nil, errors.New("it has several documents; write all settings into one")
	}
	root := document.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return nil, nil, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, nil, errors.New("expected names and values, such as `http: 127.0.0.1:7411`")
	}
	values := map[string][]string{}
	var names []string
	for i := 0; i+1 < len(root.Content); i += 2 {
		name := root.Content[i].Value
		f := flags.Lookup(name)
		if f == nil || !setting(f) {
			return nil, nil, &unknownSettingError{name: name, line: root.Content[i].Line, known: Names(flags)}
		}
		if _, again := values[name]; again {
			return nil, nil, fmt.Errorf("line %d: %s is there twice", root.Content[i].Line, name)
		}
		list, err := valuesOf(f, root.Content[i+1])
		if err != nil {
			return nil, nil, err
		}
		values[name] = list
		names = append(names, name)
	}
	return values, names, nil
}

// valuesOf reads what a setting is: one value, or, of a flag that may be given several times,
// a list too.
func valuesOf(f *pflag.Flag, node *yaml.Node) ([]string, error) {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	list := []*yaml.Node{node}
	if node.Kind == yaml.SequenceNode && several(f) {
		list = node.Content
	}
	values := make([]string, 0, len(list))
	for _, one := range list {
		if one.Kind != yaml.ScalarNode || one.Tag == "!!null" {
			expected := "one value"
			if several(f) {
				expected = "a value, or a list of values"
			}
			return nil, fmt.Errorf("line %d: %s takes %s", one.Line, f.Name, expected)
		}
		values = append(values, one.Value)
	}
	return values, nil
}
