package shard

// Cells come in a fixed set of sizes, so that a freed one fits the next record
// of about its size: steps of 8 bytes up to 256, where nearly all limiter keys
// are, then steps of about an eighth, chosen so that the cells fill a chunk.
const (
	smallestCell = 32
	fineSteps    = 256
	ownClass     = 0xff // a chunk that is one cell
)

// classSizes is the size of the cells of each class in bytes, ascending.
var classSizes = makeClassSizes()

// classOf is the class of a size in grains, rounded up.
var classOf = makeClassOf()

func makeClassSizes() []uint32 {
	var sizes []uint32
	for s := uint32(smallestCell); s <= fineSteps; s += grain {
		sizes = append(sizes, s)
	}
	for n := chunkSize / fineSteps; n > chunkSize/largestShared; {
		n -= max(1, n/9)
		sizes = append(sizes, uint32(chunkSize/n)&^(grain-1))
	}
	return sizes
}

func makeClassOf() []uint8 {
	of := make([]uint8, largestShared/grain+1)
	class := uint8(0)
	for g := range of {
		if uint32(g*grain) > classSizes[class] {
			class++
		}
		of[g] = class
	}
	return of
}

// classFor is the smallest class whose cells have size bytes or more.
func classFor(size int) uint8 { return classOf[(size+grain-1)/grain] }
