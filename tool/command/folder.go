package command

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/utp"
)

// checkFolder requires a folder to run in: a fixed one, or a placeholder below `within`.
func (p *program) checkFolder(fault faultAt) error {
	name, fixed := "folder", p.Folder
	if p.Within != "" {
		if wholePlaceholder().FindString(p.Folder) == "" {
			return fault(fmt.Sprintf("it is %q", p.Folder), "a place such as {folder}, below the folder that within names", "folder")
		}
		name, fixed = "within", p.Within
	}
	if fixed == "" {
		p.Folder, fixed = "/", "/"
	}
	if !filepath.IsAbs(fixed) {
		return fault(fmt.Sprintf("it is %q", fixed), "the full path of a folder; a place also needs within", name)
	}
	info, err := os.Stat(fixed)
	if err != nil {
		return fault(cause.Of(err), "a folder that is there", name)
	}
	if !info.IsDir() {
		return fault(fixed+" is not a folder", "a folder", name)
	}
	return nil
}

// open opens the folder of a call. A name from an agent is resolved below within, and cannot escape it by dots or by a
// link.
func (p *program) open(args map[string]jsontext.Value) (*os.File, error) {
	if p.Within == "" {
		return openFolder(func() (*os.File, error) { return os.Open(p.Folder) })
	}
	root, err := os.OpenRoot(p.Within)
	if err != nil {
		return nil, refuse(utp.CodeUpstreamUnavailable, "the folder %s cannot be opened: %s", p.Within, cause.Of(err))
	}
	defer func() { _ = root.Close() }()
	name, err := textOf(args[wholePlaceholder().FindStringSubmatch(p.Folder)[1]])
	if err != nil {
		return nil, refuse(utp.CodeBadRequest, "the folder %v", err)
	}
	return openFolder(func() (*os.File, error) {
		// O_NONBLOCK, so that something other than a folder, such as a pipe, does not block the call.
		return root.OpenFile(name, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	})
}

func openFolder(open func() (*os.File, error)) (*os.File, error) {
	folder, err := open()
	if err != nil {
		return nil, refuse(utp.CodeNotFound, "the folder cannot be opened: %s", cause.Of(err))
	}
	info, err := folder.Stat()
	if err == nil && !info.IsDir() {
		err = refuse(utp.CodeBadRequest, "it is not a folder: %s", info.Name())
	}
	if err != nil {
		_ = folder.Close()
		return nil, err
	}
	return folder, nil
}

// refuse is the error of a call that has begun nothing.
func refuse(code utp.Code, format string, args ...any) error {
	return (&utp.ToolError{Code: code, Message: fmt.Sprintf(format, args...), Source: utp.SourceTool}).Untouched()
}
