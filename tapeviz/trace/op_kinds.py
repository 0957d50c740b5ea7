"""Tell what is special about an op's type: a row for each type that some rule names.

The recorder travels alone and has tables of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

TRAITS: Mapping[str, str] = MappingProxyType(
    {
        "call": "runs the graph of a function",
        "branch": "runs one of several graphs",
        "loop": "runs a graph for each turn",
        "dataset-loop": "ends a loop over a dataset: runs its body for each element",
        "switch": "hands its input to one of its outputs, as a predicate tells (TF1)",
        "ref-variable": "makes a TF1 ref variable",
        "ref-assign": "writes to a TF1 ref variable",
        "list-write": "gives a new list with another element (list_ops, TensorArray in a function)",
        "shape": "gives the shape or size of a tensor",
        "form": "looks at the form of a tensor and never at its elements",
        "no-data": "its output depends on no data value, whatever its input",
        "plumbing": "a reader of gradients does not miss it",
        "no-gradient": (
            "floats to floats, and its gradient function gives None or there is none (2.15-2.21)"
        ),
        "flat": "its derivative is 0 wherever there is one",
        "clips": "its slope is 0 over a stretch of its inputs and another elsewhere",
        "normalises": "its outputs sum to a constant",
        "product": "linear in each of several inputs: one's gradient is multiplied by the others",
        "linear": "linear in all its inputs at once: its gradient does not depend on them",
        "mask": "a mask chooses the elements that it lets through",
        "selects": "takes each element from one of two inputs, as a mask tells",
        "divides": "divides its first input by its second",
        "places": "puts its elements among others: its gradient is the part that belongs to them",
        "moves": "moves elements: a part that is zero was zero before",
        "singular": "its slope or its result is infinite or undefined at a point",
        "grows": "its result overflows soon",
        "matrix": "its result depends on whole matrices, not element by element",
        "copy": "gives its input as it is, perhaps in another shape",
        "view": "gives elements of its inputs: a slice, a copy, another shape or dtype",
        "difference": "compares two tensors element by element, as losses do",
        "mean": "gathers a loss into a number",
        "reduces": "gathers elements along axes, which its second input names",
        "reshape": "who writes it asks for another shape",
        "position": "gives positions of elements",
        "data-sized": "how many elements it gives depends on the values that it is given",
        "decodes-picture": "gives the picture that an encoder wrote, which may have lost details",
        "question": "answers true or false",
        "draw": "draws random numbers",
        "discrete": "draws whole numbers, of which each has a probability",
    }
)
"""The meaning of each trait."""

_ROWS = """
Abs                                  clips
Acos                                 singular
Acosh                                singular
Add                                  linear
AddN                                 linear
AddV2                                linear
All                                  reduces
Any                                  reduces
ApproximateEqual                     question
ArgMax                               position
ArgMin                               position
Asin                                 singular
Assign                               ref-assign
AssignAdd                            ref-assign
AssignSub                            ref-assign
Atan                                 clips
Atanh                                singular
BatchMatMul                          product
BatchMatMulV2                        product
BatchMatMulV3                        product
Betainc                              clips
BiasAdd                              linear
BiasAddV1                            linear
BroadcastGradientArgs                no-data
BroadcastTo                          reshape
CTCBeamSearchDecoder                 data-sized
CTCGreedyDecoder                     data-sized
Case                                 branch
Cast                                 view linear
Ceil                                 no-gradient flat
Cholesky                             singular matrix
ClipByValue                          clips
Complex                              places
ComplexAbs                           clips
ConcatV2                             moves view places
Const                                plumbing
Conv2D                               product
Conv2DBackpropFilter                 product
Conv2DBackpropInput                  product
Conv3D                               product
Copy                                 view
Cos                                  clips
Cosh                                 clips grows
Cross                                product
Cumprod                              clips
Cumsum                               linear
DecodeAndCropJpeg                    decodes-picture
DecodeBmp                            decodes-picture
DecodeGif                            decodes-picture
DecodeImage                          decodes-picture
DecodeJpeg                           decodes-picture
DecodeJxl                            decodes-picture
DecodePng                            decodes-picture
DecodeWebP                           decodes-picture
DeepCopy                             view
DenseToDenseSetOperation             data-sized
DenseToSparseSetOperation            data-sized
DepthwiseConv2dNative                product
DestroyResourceOp                    plumbing
Diag                                 places
Div                                  product divides singular
DivNoNan                             product divides
DynamicPartition                     data-sized
DynamicStitch                        places
Einsum                               product
Elu                                  clips
EluGrad                              clips
EnsureShape                          copy view
Equal                                question
Erf                                  clips
Erfc                                 clips
EuclideanNorm                        singular reduces
Exp                                  clips grows
ExpandDims                           moves copy view reshape
Expm1                                grows
ExtractGlimpse                       no-gradient
FakeQuantWithMinMaxArgs              clips
FakeQuantWithMinMaxArgsGradient      no-gradient
FakeQuantWithMinMaxVars              clips
FakeQuantWithMinMaxVarsGradient      no-gradient
Floor                                no-gradient flat
FloorDiv                             no-gradient flat
FloorMod                             clips
GatherNd                             moves
GatherV2                             moves view
Greater                              question
GreaterEqual                         question
HSVToRGB                             no-gradient
Identity                             plumbing moves copy view
IdentityN                            copy
If                                   branch
Igamma                               clips
Igammac                              clips
InTopKV2                             question
Inv                                  singular
IsFinite                             question
IsInf                                question
IsNan                                question
L2Loss                               product
LeakyRelu                            clips
LeakyReluGrad                        flat
Less                                 question
LessEqual                            question
LinSpace                             no-gradient
ListDiff                             data-sized
LoadAndRemapMatrix                   no-gradient
Log                                  singular
Log1p                                singular
LogMatrixDeterminant                 matrix
LogSoftmax                           clips normalises
LogicalAnd                           question
LogicalNot                           question
LogicalOr                            question
MatMul                               product
MatrixBandPart                       mask
MatrixDeterminant                    matrix
MatrixDiag                           places
MatrixDiagV2                         places
MatrixDiagV3                         places
MatrixInverse                        singular matrix
MatrixLogarithm                      matrix
MatrixSetDiag                        places
MatrixSetDiagV2                      places
MatrixSetDiagV3                      places
MatrixSolve                          matrix
MatrixSquareRoot                     matrix
MatrixTriangularSolve                matrix
Max                                  clips reduces
MaxPool                              clips
MaxPool3D                            clips
MaxPoolGrad                          flat
MaxPoolGradV2                        flat
MaxPoolV2                            clips
Maximum                              clips
Mean                                 mean reduces linear
Min                                  clips reduces
Minimum                              clips
Mul                                  product
MulNoNan                             product
Multinomial                          draw discrete
Neg                                  linear
NoOp                                 plumbing
NonDeterministicInts                 draw
NonMaxSuppression                    position data-sized
NonMaxSuppressionV2                  position data-sized
NonMaxSuppressionV3                  position data-sized
NonMaxSuppressionV4                  position data-sized
NonMaxSuppressionV5                  position data-sized
NonMaxSuppressionWithOverlaps        position data-sized
NotEqual                             question
OneHot                               no-gradient
OnesLike                             form
Pack                                 moves view places
Pad                                  moves places
PadV2                                moves places
ParallelDynamicStitch                places
ParameterizedTruncatedNormal         no-gradient draw
PartitionedCall                      call
Placeholder                          plumbing
Pow                                  product grows
Prod                                 clips reduces
Qr                                   matrix
RaggedRange                          no-gradient data-sized
RandomGamma                          draw
RandomPoisson                        draw
RandomPoissonV2                      draw discrete
RandomShuffle                        no-gradient draw
RandomStandardNormal                 draw
RandomUniform                        draw
RandomUniformInt                     draw
Range                                no-gradient data-sized
Rank                                 shape form no-data plumbing
ReadVariableOp                       plumbing
RealDiv                              product divides singular
Reciprocal                           clips singular
ReduceDataset                        loop dataset-loop
RefSwitch                            switch
Relu                                 clips
Relu6                                clips
Relu6Grad                            flat
ReluGrad                             flat
Reshape                              moves copy view reshape
ResizeBilinearGrad                   no-gradient
ResourceGather                       moves
Rint                                 no-gradient flat
Round                                no-gradient flat
Rsqrt                                clips singular
ScatterAdd                           ref-assign
ScatterNd                            places
ScatterNdAdd                         ref-assign
ScatterNdSub                         ref-assign
ScatterNdUpdate                      ref-assign
ScatterSub                           ref-assign
ScatterUpdate                        ref-assign
SegmentMax                           clips
SegmentMean                          product
SegmentMin                           clips
SegmentProd                          clips
Select                               mask selects
SelectV2                             mask selects
SelfAdjointEigV2                     matrix
Selu                                 clips
SeluGrad                             clips
Shape                                shape form no-data plumbing
ShapeN                               shape form no-data plumbing
Sigmoid                              clips
SigmoidGrad                          clips
Sign                                 flat
Sin                                  clips
Sinh                                 grows
Size                                 shape form no-data plumbing
Slice                                moves view
Softmax                              clips normalises
SoftmaxCrossEntropyWithLogits        clips
Softplus                             clips
Softsign                             clips
SparseAddGrad                        no-gradient
SparseConcat                         no-gradient
SparseMatMul                         product
SparseSoftmaxCrossEntropyWithLogits  clips
SparseTensorDenseMatMul              product
SparseToDense                        places
SparseToSparseSetOperation           data-sized
Split                                moves view
SplitV                               moves
Sqrt                                 singular
Square                               product
SquaredDifference                    product difference
Squeeze                              moves copy view
StatefulPartitionedCall              call
StatefulRandomBinomial               draw discrete
StatefulStandardNormal               draw
StatefulStandardNormalV2             draw
StatefulTruncatedNormal              draw
StatefulUniform                      draw
StatefulUniformFullInt               draw
StatefulUniformInt                   draw
StatelessCase                        branch
StatelessIf                          branch
StatelessMultinomial                 draw discrete
StatelessParameterizedTruncatedNormal draw
StatelessRandomBinomial              no-gradient draw
StatelessRandomGammaV2               draw
StatelessRandomGammaV3               draw
StatelessRandomNormal                draw
StatelessRandomNormalV2              draw
StatelessRandomPoisson               draw discrete
StatelessRandomUniform               draw
StatelessRandomUniformFullInt        draw
StatelessRandomUniformFullIntV2      draw
StatelessRandomUniformInt            draw
StatelessRandomUniformIntV2          draw
StatelessRandomUniformV2             draw
StatelessShuffle                     draw
StatelessTruncatedNormal             draw
StatelessTruncatedNormalV2           draw
StatelessWhile                       loop
StopGradient                         copy
StridedSlice                         moves view reshape
StridedSliceGrad                     places
StringSplitV2                        data-sized
Sub                                  difference linear
Sum                                  mean reduces linear
Svd                                  matrix
Switch                               switch
Tanh                                 clips
TanhGrad                             clips
TemporaryVariable                    ref-variable
TensorArrayWriteV3                   list-write
TensorListConcatLists                no-gradient
TensorListFromTensor                 moves
TensorListPushBack                   list-write
TensorListPushBackBatch              no-gradient
TensorListSetItem                    list-write
TensorListStack                      moves
TensorScatterAdd                     places
TensorScatterSub                     places
TensorScatterUpdate                  places
TensorStridedSliceUpdate             places
Tile                                 moves
TopK                                 position
TopKV2                               clips position
Transpose                            moves view reshape
TruncateDiv                          no-gradient flat
TruncatedNormal                      draw
Unique                               position data-sized
UniqueV2                             position data-sized
UniqueWithCounts                     data-sized
UniqueWithCountsV2                   data-sized
Unpack                               moves view
UnsortedSegmentMax                   clips
UnsortedSegmentMin                   clips
UnsortedSegmentProd                  clips
VarHandleOp                          plumbing
VarIsInitializedOp                   plumbing
Variable                             ref-variable
VariableShape                        no-data plumbing
VariableV2                           ref-variable
Where                                mask position data-sized
While                                loop
Xdivy                                product singular
Xlog1py                              product singular
Xlogy                                product singular
ZerosLike                            form
"""
OP_KINDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {name: frozenset(traits) for name, *traits in map(str.split, _ROWS.strip().splitlines())}
)
"""The traits of each op type."""


def ops_with(*traits: str) -> frozenset[str]:
    """The op types that have one of these traits."""
    assert TRAITS.keys() >= set(traits)
    return frozenset(name for name, known in OP_KINDS.items() if known.intersection(traits))
