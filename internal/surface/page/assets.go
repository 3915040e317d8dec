package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"
)

//go:embed assets
var embedded embed.FS

// Assets are the templates and the files of the page.
type Assets struct {
	languages map[string]*Language
	files     map[string]File
	styles    map[string]string
	packers   sync.Pool // of *gzip.Writer, each of which is large
}

// File is a script or an image: its media type, its entity tag and its bytes.
type File struct {
	Kind string
	Tag  string
	Body []byte
	// Packed are the bytes as gzip makes them, and PackedTag is the entity tag of that; nil where it makes nothing smaller.
	Packed    func() []byte
	PackedTag string
}

// Gzip makes a body smaller.
func (p *Assets) Gzip(body []byte) []byte {
	var b bytes.Buffer
	w, again := p.packers.Get().(*gzip.Writer)
	if again {
		w.Reset(&b)
	} else {
		w = gzip.NewWriter(&b)
	}
	_, _ = w.Write(body) // a buffer takes everything
	_ = w.Close()
	p.packers.Put(w)
	return b.Bytes()
}

// Load reads the templates and the files, which are part of the program.
func Load() (*Assets, error) {
	p := &Assets{files: map[string]File{}, styles: map[string]string{}}
	if err := p.loadLanguages(); err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	kinds := map[string]string{
		".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".png": "image/png",
		".webmanifest": "application/manifest+json",
	}
	var scripts []byte
	err := fs.WalkDir(embedded, "assets", func(name string, _ fs.DirEntry, err error) error {
		kind := kinds[path.Ext(name)]
		if err != nil || kind == "" && path.Ext(name) != styleExt {
			return err
		}
		body, err := embedded.ReadFile(name)
		if err != nil {
			return err //nolint:wrapcheck // named below
		}
		if kind == "" {
			p.styles[path.Base(name)] = string(body)
			return nil
		}
		if path.Ext(name) == ".js" {
			scripts = append(scripts, body...)
		}
		p.add(strings.TrimPrefix(name, "assets/"), kind, body)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	for _, l := range p.languages {
		if l.book != nil {
			p.add(l.scriptName(), kinds[".js"], l.phrases(scripts))
		}
	}
	return p, nil
}

// add adds a file.
func (p *Assets) add(name, kind string, body []byte) {
	sum := sha256.Sum256(body)
	tag := hex.EncodeToString(sum[:8])
	f := File{Kind: kind, Tag: `"` + tag + `"`, Body: body}
	if path.Ext(name) != ".png" {
		f.Packed, f.PackedTag = sync.OnceValue(func() []byte { return p.Gzip(body) }), `"`+tag+`-gzip"`
	}
	p.files[name] = f
}

// File is a script or an image of the page.
func (p *Assets) File(name string) (File, bool) {
	f, found := p.files[name]
	return f, found
}
