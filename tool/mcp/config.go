package mcp

import (
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/program"
	"github.com/earshot-dev/earshot/tool/settings"
)

// config is one server of the section `mcp`.
type config struct {
	// Command is a program with its arguments; URL an address instead of it.
	Command []string `yaml:"command"`
	URL     string   `yaml:"url"`
	// Folder is where the program starts.
	Folder string `yaml:"folder"`
	// Roots are the folders that the program is told of when it asks for its roots, with full paths.
	Roots []string `yaml:"roots"`
	// Environment and Headers may hold {name} for a secret of that name.
	Environment map[string]string `yaml:"environment"`
	Inherit     []string          `yaml:"inherit"`
	Headers     map[string]string `yaml:"headers"`
	Secrets     settings.Secrets  `yaml:"secrets"`
	Limits      limits            `yaml:"limits"`
}

type limits struct {
	Start   time.Duration `yaml:"start"`   // until the server has told its tools; default 1 min
	Time    time.Duration `yaml:"time"`    // of a call, then it is cancelled; default 10 min
	Message settings.Size `yaml:"message"` // of one message of the server's; default 16 MiB
}

const (
	defaultStart   = time.Minute
	defaultTime    = 10 * time.Minute
	defaultMessage = 16 << 20
	maxStart       = 10 * time.Minute
	maxTime        = 24 * time.Hour
	maxMessage     = 64 << 20
)

var secretPlaceholder = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_]*)\}`)
})

// fill puts secrets into a text.
func fill(text string, secrets map[string]string) string {
	return secretPlaceholder().ReplaceAllStringFunc(text, func(placeholder string) string { return secrets[placeholder[1:len(placeholder)-1]] })
}

// used are the names of the secrets that the server is given.
func (c config) used() []string {
	var names []string
	for _, texts := range []map[string]string{c.Environment, c.Headers} {
		for _, text := range texts {
			for _, match := range secretPlaceholder().FindAllStringSubmatch(text, -1) {
				names = append(names, match[1])
			}
		}
	}
	return settings.Sorted(names)
}

// headersOfTheProtocol are not the operator's to set; a key would let Go's client repeat a request by itself.
var headersOfTheProtocol = []string{
	"accept", "connection", "content-length", "content-type", "host", "idempotency-key", "last-event-id", "mcp-protocol-version", "mcp-session-id", "transfer-encoding",
	"x-idempotency-key",
}

// load checks one server of a section, and binds its program.
func (s *Server) load(in settings.Section) error {
	if err := in.Decode(&s.c); err != nil {
		return err
	}
	if err := s.c.Secrets.Check(in, "secrets"); err != nil {
		return err
	}
	fault := func(found, expected string, path ...any) error { return in.Fault(path, found, expected, "") }
	if (len(s.c.Command) == 0) == (s.c.URL == "") {
		return fault("it names no server, or two", "either command: [/path/of/program, argument, …] or url: https://…")
	}
	check := s.checkAddress
	if s.c.URL == "" {
		check = s.checkProgram
	}
	if err := check(fault); err != nil {
		return err
	}
	for field, texts := range map[string]map[string]string{"environment": s.c.Environment, "headers": s.c.Headers} {
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			for _, match := range secretPlaceholder().FindAllStringSubmatch(texts[name], -1) {
				if _, known := s.c.Secrets[match[1]]; !known {
					return fault("there is no secret "+match[1]+" in the server's secrets", "", field, name)
				}
			}
		}
	}
	if s.o.Login != nil && s.c.takesLogin() {
		s.login = s.o.Login(s.name, s.c.URL)
	}
	return s.checkLimits(fault)
}

type faultAt func(found, expected string, path ...any) error

func (s *Server) checkProgram(fault faultAt) error {
	path := s.c.Command[0]
	if !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return fault(fmt.Sprintf("it is %q", path), "the full path of a program first, such as /usr/bin/npx", "command", 0)
	}
	var err error
	s.bound, err = program.Bind(path)
	if err != nil {
		return fault(cause.Of(err), "", "command", 0)
	}
	s.copies.Add(s.bound)
	for i, arg := range s.c.Command {
		if strings.ContainsRune(arg, 0) {
			return fault("it holds a NUL", "", "command", i)
		}
	}
	if s.c.Folder == "" {
		s.c.Folder = "/"
	}
	if info, err := os.Stat(s.c.Folder); !filepath.IsAbs(s.c.Folder) || err != nil || !info.IsDir() {
		return fault(fmt.Sprintf("it is %q", s.c.Folder), "the full path of a folder that is there", "folder")
	}
	if err := s.checkRoots(fault); err != nil {
		return err
	}
	if len(s.c.Headers) > 0 {
		return fault("a program takes no headers", "environment", "headers")
	}
	for _, name := range slices.Concat(s.c.Inherit, slices.Collect(maps.Keys(s.c.Environment))) {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return fault(fmt.Sprintf("%q is not a variable name", name), "", "environment")
		}
	}
	return nil
}

func (s *Server) checkRoots(fault faultAt) error {
	for i, root := range s.c.Roots {
		if info, err := os.Stat(root); !filepath.IsAbs(root) || filepath.Clean(root) != root || err != nil || !info.IsDir() {
			return fault(fmt.Sprintf("it is %q", root), "the full path of a folder that is there", "roots", i)
		}
	}
	return nil
}

// capabilities are what a server is told that it may ask for beside questions: roots only where it has some, for an empty list
// would take the folders of its arguments away from it.
func (c config) capabilities() *mcp.ClientCapabilities {
	if len(c.Roots) == 0 {
		return &mcp.ClientCapabilities{}
	}
	return &mcp.ClientCapabilities{RootsV2: &mcp.RootCapabilities{}} //nolint:staticcheck // as below
}

// roots are the folders in the form of the protocol.
func (c config) roots() []*mcp.Root { //nolint:staticcheck // as below
	roots := make([]*mcp.Root, 0, len(c.Roots)) //nolint:staticcheck // servers of today ask for them; deprecated is not removed
	for _, path := range c.Roots {
		//nolint:staticcheck // as above
		roots = append(roots, &mcp.Root{Name: filepath.Base(path), URI: (&url.URL{Scheme: "file", Path: path}).String()})
	}
	return roots
}

func (s *Server) checkAddress(fault faultAt) error {
	u, err := url.Parse(s.c.URL)
	if err != nil || u.Host == "" || u.Opaque != "" || u.Fragment != "" {
		return fault("it cannot be read as an address", "such as https://mcp.example.org/mcp", "url")
	}
	switch {
	case u.User != nil:
		return fault("it holds a user name or a password", "a header with a secret", "url")
	case u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())):
		return fault(fmt.Sprintf("the scheme is %q", u.Scheme), "https; http only on this machine", "url")
	case s.c.Folder != "" || len(s.c.Roots) > 0 || len(s.c.Environment) > 0 || len(s.c.Inherit) > 0:
		return fault("a server elsewhere has no folder, no roots and no environment", "headers", "url")
	}
	for name, value := range s.c.Headers {
		if slices.Contains(headersOfTheProtocol, strings.ToLower(name)) {
			return fault("the protocol sets it itself", "another header", "headers", name)
		}
		if strings.ContainsAny(name+value, "\r\n\x00") || strings.TrimSpace(name) == "" {
			return fault("it is not a header", "a name, and a value of one line", "headers", name)
		}
	}
	return nil
}

func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

func (s *Server) checkLimits(fault faultAt) error {
	l := &s.c.Limits
	for _, one := range []struct {
		name           string
		value          *time.Duration
		standard, most time.Duration
	}{{"start", &l.Start, defaultStart, maxStart}, {"time", &l.Time, defaultTime, maxTime}} {
		if *one.value > one.most {
			return fault("it is over the limit", "at most "+one.most.String(), "limits", one.name)
		}
		if *one.value == 0 {
			*one.value = one.standard
		}
	}
	if l.Message > maxMessage {
		return fault("it is over the limit", "at most 64MiB", "limits", "message")
	}
	if l.Message == 0 {
		l.Message = defaultMessage
	}
	return nil
}
