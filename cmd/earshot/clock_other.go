//go:build !linux

package main

import "github.com/earshot-dev/earshot/kernel"

func (m *Main) clock() kernel.Clock { return m.processClock() }
