package hostfile

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Server is an MCP server of a host.
type Server struct {
	Name        string
	Command     []string
	Folder      string            // where it starts; "" where the file does not say
	Environment map[string]string // as it stands in the file
	Inherit     []string          // variables that the host hands on
	URL         string
	Headers     map[string]string
	// HeaderVariables are headers whose values lie in variables of the host.
	HeaderVariables map[string]string
	// Client is the client of OAuth that its host logs in as; "" where the host registers one itself. A secret or a token of
	// the host is never read.
	Client string
}

// Left is a server that stays where it is, and why.
type Left struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Servers are the servers of the file that can stand behind Earshot, and those that cannot.
func (f *File) Servers() (servers []Server, left []Left) {
	for _, name := range f.Names() {
		if name == EntryName {
			continue
		}
		entry := f.Entry(name)
		if entry == nil {
			left = append(left, Left{name, "it is not a table"})
			continue
		}
		s, why := ServerOf(name, entry)
		if why != "" {
			left = append(left, Left{name, why})
			continue
		}
		servers = append(servers, s)
	}
	return servers, append(left, f.projectServers()...)
}

// projectServers are those that Claude Code keeps for single folders in the same file.
func (f *File) projectServers() (left []Left) {
	projects, _ := f.tree["projects"].(map[string]any)
	for _, folder := range slices.Sorted(maps.Keys(projects)) {
		project, _ := projects[folder].(map[string]any)
		servers, _ := project[f.host.Section].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(servers)) {
			left = append(left, Left{name, "it is for the folder " + folder + " alone"})
		}
	}
	return left
}

// Members of entries that say how the host treats a server, and mean nothing behind Earshot.
var harmless = []string{
	"name", "type", "transport", "source", "description", "timeout", "trust", "enabled", "disabled", "bundled", "required", "icon", "gallery", "version",
	"startup_timeout_sec", "startup_timeout_ms", "tool_timeout_sec", "alwaysLoad", "alwaysLoadTools", "alwaysAllow", "autoApprove", "default_tools_approval_mode",
	"env_keys", "available_tools", "enabled_tools", "disabled_tools", "includeTools", "excludeTools", "disabledTools",
}

// Members that keep a server where it is if there is anything in them.
var keeping = []struct{ member, why string }{
	{"headersHelper", "its host makes its headers with a program"},
	{"env_keys", "its secrets lie in the keychain of its host"},
	{"envFile", "its variables lie in a file that its host reads"},
	{"available_tools", "its host has chosen some of its tools"},
	{"enabled_tools", "its host has chosen some of its tools"},
	{"includeTools", "its host has chosen some of its tools"},
	{"disabled_tools", "its host leaves out some of its tools"},
	{"disabledTools", "its host leaves out some of its tools"},
	{"excludeTools", "its host leaves out some of its tools"},
}

// placeholder is what hosts put values in the place of.
var placeholder = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{(?:env|file):[^}]*\}|\$\{[^}]*\}|\$[A-Z_][A-Z0-9_]*|^\$[A-Za-z_]`)
})

// reader reads the members of an entry, and notes the first that it cannot.
type reader struct {
	entry map[string]any
	read  []string
	why   string
}

// ServerOf reads an entry. The text says why the server cannot stand behind Earshot; "" if it can.
func ServerOf(name string, entry map[string]any) (Server, string) {
	r := reader{entry: entry, read: harmless}
	s := Server{Name: name}
	if entry["disabled"] == true || entry["enabled"] == false {
		return s, "it is switched off"
	}
	for _, k := range keeping {
		switch value := entry[k.member].(type) {
		case nil:
		case []any:
			if len(value) > 0 {
				return s, k.why
			}
		case map[string]any:
			if len(value) > 0 {
				return s, k.why
			}
		default:
			return s, k.why
		}
	}
	r.read = append(slices.Clone(harmless), "headersHelper", "envFile")
	if entry["type"] == "local" { // OpenCode's, with the arguments in the command
		s.Command = r.list("command")
	} else if command := r.text("command", "cmd"); command != "" {
		s.Command = append([]string{command}, r.list("args")...)
	}
	s.Folder = r.text("cwd")
	s.Environment = r.table("env", "envs", "environment")
	s.Inherit = r.list("env_vars")
	s.URL = r.text("url", "httpUrl", "uri", "serverUrl")
	s.Headers = r.table("headers", "http_headers")
	s.HeaderVariables = r.table("env_http_headers")
	if variable := r.text("bearer_token_env_var"); variable != "" {
		if s.HeaderVariables == nil {
			s.HeaderVariables = map[string]string{}
		}
		s.HeaderVariables["Authorization"] = variable
	}
	s.Client = r.login(s.URL != "")
	if r.why == "" {
		r.why = r.unfit(s)
	}
	return s, r.why
}

// clientID is the form in which a client can be named on a command line.
var clientID = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@-]*$`)
})

const maxClientID = 256

// login reads how the host logs in at the server, and returns the client that it does it as. Behind Earshot a person logs in
// again at an address that asks for it. Logins of other kinds are the host's alone.
func (r *reader) login(address bool) (client string) {
	r.read = append(r.read, "oauth", "auth", "authProviderType")
	byOAuth := false
	for _, member := range []string{"oauth", "auth", "authProviderType"} {
		switch value := r.entry[member].(type) {
		case nil:
			continue
		case string:
			if value != "oauth" && value != "dynamic_discovery" {
				r.why = "it logs in by its host"
			}
		case bool:
			continue
		case map[string]any:
			for _, name := range []string{"clientId", "client_id", "CLIENT_ID"} {
				if id, _ := value[name].(string); len(id) <= maxClientID && clientID().MatchString(id) {
					client = id
				}
			}
		default:
			r.why = "it logs in by its host"
		}
		byOAuth = true
	}
	if byOAuth && !address {
		r.why = "it logs in by its host"
	}
	return client
}

// unfit says what keeps a server that was read from standing behind Earshot.
func (r *reader) unfit(s Server) string {
	for _, member := range slices.Sorted(maps.Keys(r.entry)) {
		if !slices.Contains(r.read, member) {
			return "it has " + member + ", which is not known here"
		}
	}
	kind, _ := r.entry["type"].(string)
	switch {
	case (len(s.Command) == 0) == (s.URL == ""):
		return "it names no command and no address, or both"
	case kind == "sse" || kind == "" && r.entry["url"] != nil && r.entry["httpUrl"] == nil && strings.HasSuffix(s.URL, "/sse"):
		return "it speaks the older transport of HTTP, with server-sent events alone"
	case kind != "" && !slices.Contains([]string{"stdio", "http", "streamable-http", "streamableHttp", "streamable_http", "local", "remote"}, kind):
		return fmt.Sprintf("it is of the type %q", kind)
	}
	texts := append(slices.Clone(s.Command), s.URL, s.Folder)
	texts = append(append(texts, slices.Collect(maps.Values(s.Environment))...), slices.Collect(maps.Values(s.Headers))...)
	for _, text := range texts {
		if found := placeholder().FindString(text); found != "" {
			return "it holds " + found + ", which only its host can fill in"
		}
	}
	return shownSecret(s)
}

// shownSecret says where a credential would be shown whenever a server is named, which is by its command or its address.
func shownSecret(s Server) string {
	arguments := make([]any, 0, len(s.Command))
	for _, one := range s.Command {
		arguments = append(arguments, one)
	}
	hidden := map[string]string{}
	hideArguments(arguments, hidden)
	if len(hidden) > 0 {
		return "its arguments hold what may be a credential; give it to the server by a variable"
	}
	address, err := url.Parse(s.URL)
	if err != nil {
		return "its address cannot be read"
	}
	if _, set := address.User.Password(); set {
		return "its address holds a password; give it by a header"
	}
	for name, values := range address.Query() {
		if slices.ContainsFunc(values, func(value string) bool { return MayBeSecret(name, value) }) {
			return "its address holds what may be a credential; give it by a header"
		}
	}
	return ""
}

// text is a member that has one of these names.
func (r *reader) text(names ...string) string {
	r.read = append(r.read, names...)
	for _, name := range names {
		switch value := r.entry[name].(type) {
		case nil:
		case string:
			return value
		default:
			r.why = name + " is not a text"
		}
	}
	return ""
}

func (r *reader) list(name string) []string {
	r.read = append(r.read, name)
	list, is := r.entry[name].([]any)
	if !is && r.entry[name] != nil {
		r.why = name + " is not a list"
	}
	texts := make([]string, 0, len(list))
	for _, one := range list {
		text, is := one.(string)
		if !is {
			r.why = name + " holds what is not a text"
		}
		texts = append(texts, text)
	}
	return texts
}

func (r *reader) table(names ...string) map[string]string {
	r.read = append(r.read, names...)
	for _, name := range names {
		table, is := r.entry[name].(map[string]any)
		if !is && r.entry[name] != nil {
			r.why = name + " is not a table"
		}
		if len(table) == 0 {
			continue
		}
		texts := map[string]string{}
		for key, value := range table {
			switch value := value.(type) {
			case string:
				texts[key] = value
			case bool, float64:
				texts[key] = fmt.Sprint(value)
			default:
				r.why = name + "." + key + " is not a text"
			}
		}
		return texts
	}
	return nil
}
