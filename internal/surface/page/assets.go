package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep/legible"
)

//go:embed assets
var embedded embed.FS

// Assets are the templates and the files of the page.
type Assets struct {
	templates *template.Template
	files     map[string]File
}

// File is a style, a script or an image: its media type, its entity tag and its bytes.
type File struct {
	Kind string
	Tag  string
	Body []byte
}

// Load reads the templates and the files, which are part of the program.
func Load() (*Assets, error) {
	templates, err := template.New("").Funcs(template.FuncMap{
		"show":  legible.Text,
		"mixed": Mixed,
		"stamp": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	}).ParseFS(embedded, "assets/*.html")
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	p := &Assets{templates: templates, files: map[string]File{}}
	kinds := map[string]string{
		".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".png": "image/png",
		".webmanifest": "application/manifest+json",
	}
	err = fs.WalkDir(embedded, "assets", func(name string, _ fs.DirEntry, err error) error {
		kind := kinds[path.Ext(name)]
		if err != nil || kind == "" {
			return err
		}
		body, err := embedded.ReadFile(name)
		if err != nil {
			return err //nolint:wrapcheck // named below
		}
		sum := sha256.Sum256(body)
		p.files[strings.TrimPrefix(name, "assets/")] = File{Kind: kind, Tag: `"` + hex.EncodeToString(sum[:8]) + `"`, Body: body}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	return p, nil
}

// File is a style, a script or an image of the page.
func (p *Assets) File(name string) (File, bool) {
	f, found := p.files[name]
	return f, found
}

// Render fills a template; half a page is never sent.
func (p *Assets) Render(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	if err := p.templates.ExecuteTemplate(&b, name, data); err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	return b.Bytes(), nil
}
