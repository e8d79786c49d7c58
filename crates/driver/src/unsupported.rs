//! Functions that exist, so that programs start, and do nothing but say so.

use std::collections::HashSet;
use std::sync::Mutex;

use crate::boundary::{Done, Entry, Status, enter, say};

fn refuse(name: &'static str) -> Done {
    static SAID: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let mut said = SAID.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if said.get_or_insert_default().insert(name) {
        say(&format!("{name} is not supported"));
    }
    Err(Status::NOT_SUPPORTED)
}

/// Declares such functions. In C's calling convention it does not matter that they take nothing.
macro_rules! unsupported {
    ($($name:ident)*) => {
        $(
            #[allow(missing_docs, unsafe_code)]
            // SAFETY: the name is one of the driver's API, of which a process loads one library.
            #[unsafe(no_mangle)]
            pub extern "C" fn $name() -> u32 {
                enter(stringify!($name), || refuse(stringify!($name)))
            }
        )*

        /// These functions.
        pub const TABLE: &[Entry] = &[$(Entry { name: stringify!($name), pointer: $name as *const () }),*];
    };
}

unsupported! {
    cuMemBatchDecompressAsync cuLaunchCooperativeKernelMultiDevice cuLaunch
    cuArrayGetMemoryRequirements cuArrayGetPlane cuArrayGetSparseProperties
    cuCoredumpDeregisterCompleteCallback cuCoredumpDeregisterStartCallback cuCoredumpGetAttribute
    cuCoredumpGetAttributeGlobal cuCoredumpRegisterCompleteCallback cuCoredumpRegisterStartCallback
    cuCoredumpSetAttribute cuCoredumpSetAttributeGlobal cuCtxFromGreenCtx cuCtxGetDevResource
    cuCtxGetExecAffinity cuCtxRecordEvent cuCtxWaitEvent cuDestroyExternalMemory
    cuDestroyExternalSemaphore cuDevResourceGenerateDesc cuDevSmResourceSplit
    cuDevSmResourceSplitByCount cuDeviceGetCliqueCount cuDeviceGetCliqueInfo cuDeviceGetDevResource
    cuDeviceGetFabricClusterUuid cuDeviceGetHostAtomicCapabilities cuDeviceGetP2PAtomicCapabilities
    cuDeviceRegisterAsyncNotification cuDeviceUnregisterAsyncNotification
    cuExternalMemoryGetMappedBuffer cuExternalMemoryGetMappedMipmappedArray cuFuncGetParamCount
    cuFuncSetBlockShape cuFuncSetSharedSize cuGraphAddBatchMemOpNode
    cuGraphAddExternalSemaphoresSignalNode cuGraphAddExternalSemaphoresWaitNode cuGraphAddNode_v3
    cuGraphBatchMemOpNodeGetParams cuGraphBatchMemOpNodeSetParams cuGraphConditionalHandleCreate
    cuGraphExecBatchMemOpNodeSetParams cuGraphExecExternalSemaphoresSignalNodeSetParams
    cuGraphExecExternalSemaphoresWaitNodeSetParams cuGraphExecGetId
    cuGraphExternalSemaphoresSignalNodeGetParams cuGraphExternalSemaphoresSignalNodeSetParams
    cuGraphExternalSemaphoresWaitNodeGetParams cuGraphExternalSemaphoresWaitNodeSetParams
    cuGraphGetId cuGraphKernelNodeGetAttribute cuGraphNodeGetContainingGraph cuGraphNodeGetLocalId
    cuGraphNodeGetParams cuGraphNodeGetToolsId cuGraphNodeSetParams_v2 cuGraphicsMapResources
    cuGraphicsResourceGetMappedMipmappedArray cuGraphicsResourceGetMappedPointer_v2
    cuGraphicsResourceSetMapFlags_v2 cuGraphicsSubResourceGetMappedArray cuGraphicsUnmapResources
    cuGraphicsUnregisterResource cuGreenCtxCreate cuGreenCtxDestroy cuGreenCtxGetDevResource
    cuGreenCtxGetId cuGreenCtxRecordEvent cuGreenCtxStreamCreate cuGreenCtxWaitEvent
    cuImportExternalMemory cuImportExternalSemaphore cuKernelGetParamCount cuLaunchGrid cuLaunchGridAsync cuLibraryGetUnifiedFunction
    cuLogicalEndpointAddDevice cuLogicalEndpointBindAddr cuLogicalEndpointBindMem
    cuLogicalEndpointCreate cuLogicalEndpointDestroy cuLogicalEndpointExport
    cuLogicalEndpointGetLimits cuLogicalEndpointIdRelease cuLogicalEndpointIdReserve
    cuLogicalEndpointImport cuLogicalEndpointQuery cuLogicalEndpointUnbind cuLogsCurrent
    cuLogsDumpToFile cuLogsDumpToMemory cuLogsRegisterCallback cuLogsUnregisterCallback
    cuMemDiscardAndPrefetchBatchAsync cuMemDiscardBatchAsync cuMemExportToShareableHandle
    cuMemGetDefaultMemPool cuMemGetHandleForAddressRange cuMemGetLocationInfo cuMemGetMemPool
    cuMemImportFromShareableHandle cuMemMapArrayAsync cuMemPoolExportPointer
    cuMemPoolExportToShareableHandle cuMemPoolImportFromShareableHandle cuMemPoolImportPointer
    cuMemPrefetchBatchAsync cuMemRangeGetAttribute cuMemRangeGetAttributes cuMemSetMemPool
    cuMemcpy3DBatchAsync cuMemcpy3DBatchAsync_v2 cuMemcpy3DPeer cuMemcpy3DPeerAsync
    cuMemcpy3DWithAttributesAsync cuMemcpyAtoA_v2 cuMemcpyBatchAsync cuMemcpyBatchAsync_v2
    cuMemcpyWithAttributesAsync cuMipmappedArrayGetMemoryRequirements
    cuMipmappedArrayGetSparseProperties cuMulticastAddDevice cuMulticastBindAddr
    cuMulticastBindAddr_v2 cuMulticastBindMem cuMulticastBindMem_v2 cuMulticastCreate
    cuMulticastGetGranularity cuMulticastUnbind cuParamSetSize cuParamSetTexRef cuParamSetf
    cuParamSeti cuParamSetv cuSignalExternalSemaphoresAsync cuStreamBeginCaptureToCig
    cuStreamBeginRecaptureToGraph cuStreamEndCaptureToCig cuStreamGetAttribute
    cuStreamGetDevResource cuStreamGetGreenCtx cuSurfObjectGetResourceDesc
    cuTensorMapEncodeIm2colWide cuTexObjectGetResourceDesc cuTexObjectGetResourceViewDesc
    cuTexObjectGetTextureDesc cuWaitExternalSemaphoresAsync
}
