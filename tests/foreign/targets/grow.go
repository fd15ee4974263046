// grow COUNTED keep|replace: 64 KiB 25 times a second.
package main

import (
	"fmt"
	"os"
	"time"
)

var sessions [][]byte

//go:noinline
func openSession(size int) []byte {
	session := make([]byte, size)
	for i := range session {
		session[i] = 1
	}
	return session
}

func main() {
	counted, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	for i := 0; ; i++ {
		if os.Args[2] == "keep" || len(sessions) < 100 {
			sessions = append(sessions, openSession(65536))
		} else {
			sessions[i%100] = openSession(65536)
		}
		if os.Args[2] != "keep" && i < 3000 {
			continue // until the heap is as large as garbage makes it
		}
		counted.WriteAt([]byte(fmt.Sprintf("%20d", len(sessions)*65536)), 0)
		time.Sleep(40 * time.Millisecond)
	}
}
