// SPDX-License-Identifier: GPL-2.0-or-later
// Two goroutines count in one line.
//
//	go build
//	s80lab exec --markers -- ./counter
package main

import (
	"fmt"
	"sync"
	"sync/atomic"
)

func s80labBegin()
func s80labEnd()

var totals struct {
	reads  int64
	writes int64
}

const rounds = 200000

func main() {
	var both sync.WaitGroup
	var started int32
	count := func(total *int64) {
		atomic.AddInt32(&started, 1)
		for atomic.LoadInt32(&started) != 2 {
		}
		for n := 0; n < rounds; n++ {
			atomic.AddInt64(total, 1)
		}
		both.Done()
	}
	both.Add(2)
	s80labBegin()
	go count(&totals.reads)
	go count(&totals.writes)
	both.Wait()
	s80labEnd()
	fmt.Println(totals.reads, totals.writes)
}
