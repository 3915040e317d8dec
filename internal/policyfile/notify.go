package policyfile

import (
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/fsnotify/fsnotify"
)

// notifier reports when a file may have changed: an event for its name in its folder, or in the folder of the file that
// it links to. Editors replace the file, so watching the file itself is not enough. A nil notifier reports nothing.
type notifier struct {
	path    string
	watcher *fsnotify.Watcher
	wake    chan struct{}
	ended   chan struct{}
}

func newNotifier(path string) (*notifier, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watching the policy: %w", err)
	}
	n := &notifier{path: path, watcher: watcher, wake: make(chan struct{}, 1), ended: make(chan struct{})}
	if !n.renew() {
		_ = watcher.Close()
		return nil, fmt.Errorf("watching the policy: %w", fs.ErrNotExist)
	}
	go n.listen()
	return n, nil
}

// listen forwards events about the file, several as one, until the watcher is closed.
func (n *notifier) listen() {
	defer close(n.ended)
	for {
		select {
		case e, open := <-n.watcher.Events:
			if !open {
				return
			}
			if !n.concerns(e.Name) {
				continue
			}
		case _, open := <-n.watcher.Errors: // such as an overflow: anything may have changed
			if !open {
				return
			}
		}
		select {
		case n.wake <- struct{}{}:
		default: // a wakeup is already pending
		}
	}
}

// concerns reports whether an event may be about the file, or about its folder, which may have been replaced. Behind a
// link, every event may: a folder on the path may be replaced.
func (n *notifier) concerns(name string) bool {
	target, err := filepath.EvalSymlinks(n.path)
	return err != nil || target != n.path || name == filepath.Dir(n.path) || filepath.Base(name) == filepath.Base(n.path)
}

// wait returns a channel that is signalled when the file may have changed.
func (n *notifier) wait() <-chan struct{} {
	if n == nil {
		return nil
	}
	return n.wake
}

// renew watches the folders on the current path, and reports whether changes will be noticed.
func (n *notifier) renew() bool {
	if n == nil || n.watcher.Add(filepath.Dir(n.path)) != nil {
		return false
	}
	target, err := filepath.EvalSymlinks(n.path)
	return err == nil && n.watcher.Add(filepath.Dir(target)) == nil
}

func (n *notifier) close() {
	_ = n.watcher.Close()
	<-n.ended
}
