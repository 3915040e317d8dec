//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package terminal

import (
	"errors"
	"os"
	"os/signal"
	"sync"

	"golang.org/x/sys/unix"
)

// RawKeys is meant for [Options.RawKeys]: the terminal sends every key as it is pressed, without echo, until restore.
// The keys that send signals still do. While the process is stopped the terminal has its original mode, so that whoever
// stopped it can use it. RawKeys fails if f is not a terminal, or if another process is in its foreground.
func RawKeys(f *os.File) (restore func(), err error) {
	k := &keyboard{file: f, quit: make(chan struct{}), signals: make(chan os.Signal, 2)}
	if err := k.with(func(fd int) error {
		before, err := unix.IoctlGetTermios(fd, getTermios)
		if err == nil {
			k.before = *before
		}

		return err //nolint:wrapcheck // only that there is one matters
	}); err != nil {
		return nil, err
	}

	if err := k.setRaw(); err != nil {
		return nil, err
	}

	if !signal.Ignored(unix.SIGTSTP) {
		signal.Notify(k.signals, unix.SIGTSTP, unix.SIGCONT)
	}

	k.owned.Go(k.watch)

	return k.release, nil
}

// errBackground means that another process is in the foreground of the terminal.
var errBackground = errors.New("the terminal is another process's")

// keyboard is a terminal that sends every key.
type keyboard struct {
	file    *os.File
	before  unix.Termios // the original mode
	signals chan os.Signal
	quit    chan struct{}
	owned   sync.WaitGroup
}

// setRaw sets the mode.
func (k *keyboard) setRaw() error {
	now := k.before
	now.Lflag &^= unix.ICANON | unix.ECHO | unix.ECHONL | unix.IEXTEN
	now.Cc[unix.VMIN], now.Cc[unix.VTIME] = 1, 0

	return k.set(now)
}

// set does nothing from the background: the terminal would stop the process.
func (k *keyboard) set(mode unix.Termios) error {
	return k.with(func(fd int) error {
		group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP) // a terminal of another session stops nobody
		if err == nil && group != unix.Getpgrp() {
			return errBackground
		}

		return unix.IoctlSetTermios(fd, setTermios, &mode)
	})
}

func (k *keyboard) with(use func(fd int) error) error {
	var err error
	if closed := withFD(k.file, func(fd uintptr) { err = use(int(fd)) }); closed != nil {
		return closed
	}

	return err
}

// watch restores the terminal while the process is stopped.
func (k *keyboard) watch() {
	for {
		select {
		case <-k.quit:
			return
		case s := <-k.signals:
			if s == unix.SIGTSTP {
				_ = k.set(k.before) // whoever stops it sets its own mode too
				_ = unix.Kill(unix.Getpid(), unix.SIGSTOP)
			}

			_ = k.setRaw() // in the background nothing is typed
		}
	}
}

func (k *keyboard) release() {
	signal.Stop(k.signals)
	close(k.quit)
	k.owned.Wait()

	_ = k.set(k.before) // a lost terminal needs no mode
}
