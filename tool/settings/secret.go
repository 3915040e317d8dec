package settings

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"
)

const (
	maxSecret = 64 << 10
	// minSecret is the shortest secret that can be told from ordinary text in an output.
	minSecret = 6
)

// Secret says where a secret is stored. Exactly one of the two is set.
type Secret struct {
	Env  string `yaml:"env"`  // a variable of the service's own environment
	File string `yaml:"file"` // a file that only its owner and group can access, read again for each call; a final newline is ignored
}

// Secrets are the secret references of a section, by name.
type Secrets map[string]Secret

// Check validates the references of a section without reading any secret.
func (s Secrets) Check(in Section, path ...any) error {
	for name, secret := range s {
		at := below(path, name)
		switch {
		case (secret.Env == "") == (secret.File == ""):
			return in.Fault(at, "it names no place, or two", "either env: NAME or file: /path", "a secret's value never stands in this file")
		case secret.File != "" && !strings.HasPrefix(secret.File, "/"):
			return in.Fault(below(at, "file"), "it is "+quote(secret.File), "a path from the root of the file system", "")
		}
	}
	return nil
}

// Open reads the secrets with those names.
func (s Secrets) Open(lookup func(string) (string, bool), names []string) (map[string]string, error) {
	values := make(map[string]string, len(names))
	for _, name := range names {
		value, err := s[name].open(lookup)
		if err == nil {
			err = usable(value)
		}
		if err != nil {
			return nil, fmt.Errorf("the secret %s: %w", name, err)
		}
		values[name] = value
	}
	return values, nil
}

func (s Secret) open(lookup func(string) (string, bool)) (string, error) {
	if s.Env != "" {
		value, set := lookup(s.Env)
		if !set {
			return "", fmt.Errorf("the variable %s is not set", s.Env)
		}
		return value, nil
	}
	info, err := os.Stat(s.File)
	if err != nil {
		return "", err //nolint:wrapcheck // it names the file, and the caller the secret
	}
	if info.Mode().Perm()&0o007 != 0 {
		return "", fmt.Errorf("%s can be read or changed by anybody; take that right away (chmod o-rwx)", s.File)
	}
	raw, err := ReadFile(s.File, maxSecret)
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(raw), "\n"), "\r"), nil
}

// usable refuses a value that could not be passed on, or not be recognised in an output. The error does not contain the
// value.
func usable(value string) error {
	switch {
	case len(value) < minSecret:
		return fmt.Errorf("it is shorter than %d bytes, and could not be told from ordinary text where it is echoed", minSecret)
	case len(value) > maxSecret:
		return fmt.Errorf("it is longer than %d bytes", maxSecret)
	case strings.ContainsFunc(value, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' }):
		return errors.New("it holds a control character")
	}
	return nil
}

// Sorted returns names in alphabetical order, without duplicates.
func Sorted(names []string) []string {
	out := slices.Clone(names)
	slices.Sort(out)
	return slices.Compact(out)
}
