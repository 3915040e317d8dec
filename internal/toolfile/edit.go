package toolfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/tool/mcp"
	"github.com/earshot-dev/earshot/tool/settings"
)

// MCPServer is an entry of the section `mcp`, as it is written.
type MCPServer struct {
	Command     []string             `yaml:"command,omitempty,flow"`
	URL         string               `yaml:"url,omitempty"`
	Folder      string               `yaml:"folder,omitempty"`
	Inherit     []string             `yaml:"inherit,omitempty,flow"`
	Environment map[string]string    `yaml:"environment,omitempty"`
	Headers     map[string]string    `yaml:"headers,omitempty"`
	Secrets     map[string]SecretRef `yaml:"secrets,omitempty"`
}

// SecretRef names the location of a secret; exactly one of the two is set.
type SecretRef struct {
	Env  string `yaml:"env,omitempty"`
	File string `yaml:"file,omitempty"`
}

// Draft is a changed file that has not replaced the old one yet.
type Draft struct{ path, draft string }

// AddServer drafts a file with one more MCP server. The rest of the file and its comments stay. A missing file is
// created.
func AddServer(path, name string, entry MCPServer) (*Draft, error) {
	return edit(path, func(root *yaml.Node) error {
		servers := value(root, kindMCP)
		if servers == nil {
			servers = &yaml.Node{Kind: yaml.MappingNode}
			root.Content = append(root.Content, textNode(kindMCP), servers)
		}
		if servers.Kind != yaml.MappingNode {
			return fmt.Errorf("the section %s is not a list of servers by their names", kindMCP)
		}
		if value(servers, name) != nil {
			return cause.Misuse("there is an MCP server of the name "+name+" already", "choose another name, or remove it first: `earshot mcp rm "+name+"`")
		}
		var node yaml.Node
		if err := node.Encode(entry); err != nil {
			return fmt.Errorf("the entry: %w", err)
		}
		servers.Content = append(servers.Content, textNode(name), &node)
		return nil
	})
}

// RemoveServer drafts a file without an MCP server.
func RemoveServer(path, name string) (*Draft, error) {
	return edit(path, func(root *yaml.Node) error {
		servers := value(root, kindMCP)
		if servers == nil || value(servers, name) == nil {
			return cause.Fail(nil, "there is no MCP server of the name "+name+" in "+path, "see `earshot mcp list`")
		}
		remove(servers, name)
		if len(servers.Content) == 0 {
			remove(root, kindMCP)
		}
		return nil
	})
}

// Servers returns the MCP servers of a file as written there; none if there is no file.
func Servers(path string) (map[string]MCPServer, error) {
	raw, err := settings.ReadFile(path, settings.MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]MCPServer{}, nil
	}
	if err != nil {
		return nil, cause.Fail(err, "the file of tools cannot be read", Hint)
	}
	var file struct {
		MCP map[string]MCPServer `yaml:"mcp"`
	}
	if err := yaml.Unmarshal(raw, &file); err != nil {
		return nil, cause.Misuse(cause.OneLine(path)+": "+cause.Of(err), "mend the file")
	}
	return file.MCP, nil
}

// edit changes the tree of a file, which is checked beforehand.
func edit(path string, change func(root *yaml.Node) error) (*Draft, error) {
	raw, err := settings.ReadFile(path, settings.MaxFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, cause.Fail(err, "the file of tools cannot be read", Hint)
	}
	document := yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{{Kind: yaml.MappingNode}}}
	if len(bytes.TrimSpace(raw)) > 0 {
		if _, err := settings.Parse(raw); err != nil {
			return nil, cause.Misuse(cause.OneLine(path)+": "+cause.Of(err), "mend the file, or name another one with --file")
		}
		if err := yaml.Unmarshal(raw, &document); err != nil {
			return nil, cause.Misuse(cause.OneLine(path)+": "+cause.Of(err), "mend the file, or name another one with --file")
		}
	}
	if err := change(document.Content[0]); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if len(document.Content[0].Content) > 0 {
		encoder := yaml.NewEncoder(&out)
		encoder.SetIndent(2)
		if err := errors.Join(encoder.Encode(&document), encoder.Close()); err != nil {
			return nil, cause.Fail(err, "the file of tools cannot be written", "")
		}
	}
	return write(path, out.Bytes())
}

func write(path string, text []byte) (*Draft, error) {
	failed := func(err error) error {
		return cause.Fail(err, "the file of tools cannot be written", "make room, or name another file with --file")
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".tools-*.yaml") // only its owner can read it
	if err != nil {
		return nil, failed(err)
	}
	d := &Draft{path: path, draft: file.Name()}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		d.Drop()
		return nil, failed(err)
	}
	return d, nil
}

// Services returns the services of the draft.
func (d *Draft) Services(o Options) ([]Service, error) { return read(d.draft, d.path, o) }

// Inspect starts one server of the draft, or connects to it, lists its tools, and ends it. No tool is called.
func (d *Draft) Inspect(ctx context.Context, name string, o Options) (offered mcp.Offered, place string, err error) {
	services, err := d.Services(o)
	if err != nil {
		return offered, "", err
	}
	for _, s := range services {
		if s.Source != nil && s.Name == name {
			place = s.Address
			offered, err = s.Inspect(ctx)
		}
		s.Close()
	}
	return offered, place, err
}

// Save replaces the file by the draft. An empty draft removes the file.
func (d *Draft) Save() error {
	defer d.Drop()
	info, err := os.Stat(d.draft)
	if err == nil && info.Size() == 0 {
		err = os.Remove(d.path)
	} else if err == nil {
		err = os.Rename(d.draft, d.path)
	}
	if err != nil {
		return cause.Fail(err, "the file of tools cannot be put in its place", "look at "+cause.OneLine(d.path))
	}
	return nil
}

// Drop removes the draft, unless it was saved.
func (d *Draft) Drop() { _ = os.Remove(d.draft) }

func textNode(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
}

// value returns the value of a name; nil if there is none.
func value(node *yaml.Node, name string) *yaml.Node {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			return node.Content[i+1]
		}
	}
	return nil
}

func remove(node *yaml.Node, name string) {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			node.Content = slices.Delete(node.Content, i, i+2)
			return
		}
	}
}
