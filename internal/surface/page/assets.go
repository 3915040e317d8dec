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

	"github.com/earshot-dev/earshot/internal/phrasebook"
)

//go:embed assets
var embedded embed.FS

// Assets are the templates and the files of the page. Templates and scripts are read when somebody first asks for a page: that takes a
// tenth of the time in which a server starts, and many servers show none.
type Assets struct {
	english   *Language
	languages map[string]func() (*Language, error) // the others
	images    map[string]File
	scripts   func() (*scripts, error)
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

// Load makes the assets ready. They are part of the program and do not change.
var Load = sync.OnceValues(load) //nolint:gochecknoglobals // made once

func load() (*Assets, error) {
	p := &Assets{images: map[string]File{}, styles: map[string]string{}}
	p.scripts = sync.OnceValues(p.loadScripts)
	p.english = &Language{Tag: english, Direction: "ltr"}
	p.english.layOut(p)
	p.languages = map[string]func() (*Language, error){}
	for _, tag := range phrasebook.Tags() {
		p.languages[tag] = sync.OnceValues(func() (*Language, error) { return p.open(tag) })
	}
	kinds := map[string]string{".svg": "image/svg+xml", ".png": "image/png", ".webmanifest": "application/manifest+json"}
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
		p.images[strings.TrimPrefix(name, "assets/")] = p.file(kind, body)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	return p, nil
}

// file is a file with what is sent of it.
func (p *Assets) file(kind string, body []byte) File {
	sum := sha256.Sum256(body)
	tag := hex.EncodeToString(sum[:8])
	f := File{Kind: kind, Tag: `"` + tag + `"`, Body: body}
	if kind != "image/png" {
		f.Packed, f.PackedTag = sync.OnceValue(func() []byte { return p.Gzip(body) }), `"`+tag+`-gzip"`
	}
	return f
}

// File is a script or an image of the page.
func (p *Assets) File(name string) (File, bool) {
	if tag, phrases := strings.CutPrefix(strings.TrimSuffix(name, scriptExt), scriptPrefix); phrases {
		l := p.In(tag)
		return l.script, l.book != nil && l.Tag == tag
	}
	if f, found := p.images[name]; found {
		return f, true
	}
	s, err := p.scripts()
	if err != nil { // the tests load them
		return File{}, false
	}
	f, found := s.files[name]
	return f, found
}
